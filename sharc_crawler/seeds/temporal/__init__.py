"""Temporal sites: from page-view logs, the sites whose pages are read in their first days: seeds of an instant crawl.

A log becomes daily views per page (:mod:`.views`), each page's views a log-normal interest curve
(:mod:`.fit`), its curve a class (:mod:`.classify`), the classes a ranking of sites, folders or URL templates
(:mod:`.rank`).
"""
