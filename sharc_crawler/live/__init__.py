"""The only importer of Scrapy and Twisted: drives the frontier with real requests."""

import os

# Read when NumPy is loaded. Threads of its BLAS spin while they wait, longer than our small products take.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
