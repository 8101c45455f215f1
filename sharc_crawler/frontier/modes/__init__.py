"""What a mode of capture decides, one module each, behind one protocol."""
