"""| Reading documents, in processes of their own; and the memory that bodies may take."""
