"""WARC, CDX, TimeMap and WACZ, in and out."""
