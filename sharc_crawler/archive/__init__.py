"""Read and write WARC and WACZ files and their indexes; read CDX and TimeMaps."""
