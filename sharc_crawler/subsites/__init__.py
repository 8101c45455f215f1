"""Parts of a site: divided by path, sitemap file or links; which of them can be captured coherently."""
