"""What archives hold of pages: asked for over HTTP, or read from files, into columns."""
