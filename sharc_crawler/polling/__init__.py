"""Polls of hubs in instant crawls: what is learned of hubs, and how requests are spent."""
