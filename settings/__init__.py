"""Settings profiles for this project; scrapy.cfg names them, ``SCRAPY_PROJECT=demo`` chooses one."""
