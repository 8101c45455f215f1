"""The only importer of Scrapy and Twisted: drives the frontier with real requests."""

import os

# Read as NumPy is loaded: threads of its BLAS wait for each other busily, for longer than our small products take.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
