"""Conformance checks for plug-ins, one suite per port."""
