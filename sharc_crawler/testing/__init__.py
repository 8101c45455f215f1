"""Conformance tests for plug-ins: one suite for each port."""
