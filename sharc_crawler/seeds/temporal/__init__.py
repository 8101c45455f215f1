"""Temporal sites: finds, from page-view logs, the sites whose pages are mostly read in their first days.

These are the seeds of an instant crawl. Logs are reduced to daily views per page (:mod:`.views`). A log-normal
interest curve is fitted to each page's views (:mod:`.fit`) and classified (:mod:`.classify`). The classes give a
ranking of sites, folders or URL templates (:mod:`.rank`).
"""
