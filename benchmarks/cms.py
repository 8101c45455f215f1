"""Stock content management systems, as Debian packages them, captured over loopback: what do masks leave?

    apt-get install --no-install-recommends apache2 libapache2-mod-php php-cli php-sqlite3 php-mysql php-xml php-mbstring php-intl \
        mediawiki dokuwiki wordpress wordpress-theme-twentytwentyone mariadb-server
    python benchmarks/cms.py /tmp/cms [wordpress mediawiki dokuwiki] [--pages 30]

Each is installed into the folder (nothing outside is touched), filled with pages, and served by Apache. Each
page shows what sites show: how long it took, how many queries, a nonce in a comment. Nobody edits anything while it is
captured, so what differs is noise. Then it is captured again, with masks learned from the first capture, and a third
time with small edits made between visits and revisits: those must be found. Prints what the captures say, and of each
edit beside the verdict when it was made and which of the page's downloads in the WARC file shows it.
"""

# ruff: noqa: E501 - lines of PHP

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.edits import Edit, changed, compared
from sharc_crawler.changes.masks import load_masks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORDS = "river bridge castle archive market winter letter garden museum harbour council railway theatre meadow library school tower bakery orchestra festival ferry station chapel vineyard workshop lighthouse mayor teacher painter".split()  # noqa: SIM905 - to be read
ADDRESS = "127.0.0.1"


def text(rng: random.Random, words: int) -> str:
    """Sentences of a town's news."""
    return ". ".join(" ".join(rng.choices(WORDS, k=9)).capitalize() for _ in range(words // 9)) + "."


def pages(number: int) -> list[tuple[str, str]]:
    """Titles and paragraphs, always the same."""
    rng = random.Random(7)
    return [
        (f"The {rng.choice(WORDS)} and the {rng.choice(WORDS)} {place}", text(rng, 120))
        for place in range(1, number + 1)
    ]


def over_a_year() -> Iterator[float]:
    """When pages were last edited, the newest first."""
    now = time.time()
    return (now - 7200 - place * 33_333 % 31_000_000 for place in count())


def php(script: Path, *words: str, folder: Path, **environment: str) -> None:
    """Run a script of PHP; what it says where it fails."""
    done = subprocess.run(
        ["php", script, *words], cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=300
    )
    if done.returncode:
        raise SystemExit(f"{script}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(command: list[str | Path], log: Path, ready: Callable[[], bool], **environment: str) -> Iterator[None]:
    """A process for as long as it is needed."""
    options = {"env": os.environ | environment, "start_new_session": True}
    with log.open("ab") as out, subprocess.Popen(command, stdout=out, stderr=out, **options) as one:
        try:
            for _ in range(600):
                if ready():
                    break
                time.sleep(0.1)
            else:
                raise SystemExit(f"{command[0]} does not answer; see {log}")
            yield
        finally:
            os.killpg(one.pid, signal.SIGTERM)  # with the workers that it has forked


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((ADDRESS, port)) == 0


APACHE = """
ServerRoot /etc/apache2
ServerName {address}
Listen {address}:{port}
PidFile {folder}/apache.pid
ErrorLog {folder}/apache.log
{user}
Include mods-enabled/*.load
Include mods-enabled/*.conf
StartServers 2
MaxRequestWorkers 4
MaxConnectionsPerChild 0
php_admin_flag display_errors off
<Directory />
AllowOverride None
Require all denied
</Directory>
<Directory {root}>
Options FollowSymLinks
Require all granted
</Directory>
<Directory {folder}/told>
Require all granted
</Directory>
Alias /robots.txt {folder}/told/robots.txt
Alias /told {folder}/told
DocumentRoot {root}
"""


@contextmanager
def served(folder: Path, root: Path, port: int, **environment: str) -> Iterator[None]:
    """A folder of PHP pages on loopback, by Apache as Debian sets it up; ``folder/told`` has robots.txt and sitemaps."""
    (folder / "told").mkdir(exist_ok=True)
    user = ""
    if os.geteuid() == 0:  # it serves as another user, who has to write the site's data
        user = "User www-data\nGroup www-data"
        subprocess.run(["chown", "-R", "www-data:www-data", folder], check=True, timeout=60)
    conf = folder / "apache.conf"
    words = {"address": ADDRESS, "port": port, "user": user, "folder": folder, "root": root}
    conf.write_text(APACHE.format(**words))
    command = ["apache2", "-f", conf, "-DFOREGROUND"]
    with running(command, folder / "php.log", lambda: answers(port), **environment):
        yield


class Site(NamedTuple):
    """What is captured."""

    url: str
    edit: Callable[[int], None]
    ending: Callable[[int], str]  #: of the URL of a page
    more: list[str]  #: arguments


# -- MediaWiki ---------------------------------------------------------------------------------------------------------

MEDIAWIKI = r"""
$wgMainCacheType = CACHE_DB;
$wgCookiePrefix = 'wiki';
$wgEnableUploads = false;
$wgJobRunRate = 0;
$wgHooks['SkinAddFooterLinks'][] = function ( $skin, $key, &$links ) {
  if ( $key === 'info' ) {
    $seconds = microtime( true ) - $_SERVER['REQUEST_TIME_FLOAT'];
    $links['made'] = sprintf( 'Page made in %.2f s', $seconds );
    $links['load'] = 'Queries: ' . random_int( 20, 40 ) . ' for request ' . bin2hex( random_bytes( 6 ) );
  }
};
"""


@contextmanager
def mediawiki(folder: Path, port: int, number: int) -> Iterator[Site]:
    """With SQLite; every page links to the next three."""
    folder.mkdir(parents=True)
    program, settings = Path("/usr/share/mediawiki"), folder / "LocalSettings.php"
    url = f"http://{ADDRESS}:{port}"
    php(
        program / "maintenance/install.php", "--dbtype", "sqlite", "--dbpath", str(folder), "--confpath", str(folder),
        "--scriptpath", "", "--server", url, "--pass", "a-long-pass-phrase-1", "--skins", "Vector,MonoBook", "Town wiki",
        "Admin", folder=folder,
    )  # fmt: skip
    settings.write_text(settings.read_text() + MEDIAWIKI)

    def put(title: str, body: str) -> None:
        subprocess.run(
            ["php", program / "maintenance/edit.php", "--conf", settings, "--user", "Admin", title],
            input=body, text=True, check=True, capture_output=True, timeout=120,
        )  # fmt: skip

    def maintain(script: str, *words: str) -> None:
        php(program / "maintenance" / script, "--conf", str(settings), *words, folder=folder)

    def tell() -> None:
        """As its manual has a timer do it."""
        maintain(
            "generateSitemap.php", "--fspath", str(told), "--urlpath", "/told", "--server", url, "--identifier", "wiki"
        )

    made, texts, told = pages(number), folder / "texts", folder / "told"
    texts.mkdir()
    told.mkdir()
    for place, (title, body) in enumerate(made):
        links = " ".join(f"[[{made[(place + step) % number][0]}]]" for step in (1, 2, 3))
        (texts / f"{title}.txt").write_text(f"== History ==\n{body}\n== See also ==\n{links}")
    (texts / "Main Page.txt").write_text("".join(f"* [[{title}]]\n" for title, _ in made))
    maintain("importTextFiles.php", "--overwrite", *map(str, sorted(texts.iterdir())))
    maintain("runJobs.php")  # which mends red links
    with closing(sqlite3.connect(folder / "my_wiki.sqlite")) as wiki, wiki:  # as if written over a year
        for page, when in zip(wiki.execute("select page_id from page").fetchall(), over_a_year(), strict=False):
            stamp = datetime.fromtimestamp(when, UTC).strftime("%Y%m%d%H%M%S")
            wiki.execute("update page set page_touched = ? where page_id = ?", (stamp, *page))
    tell()
    (told / "robots.txt").write_text(f"Sitemap: {url}/told/sitemap-index-wiki.xml\n")

    def edit(place: int) -> None:
        title, body = made[place]
        put(title, (texts / f"{title}.txt").read_text().replace(body, changed(body, place)))
        tell()

    with served(folder, program, port, MW_CONFIG_FILE=str(settings)):
        exclude = r"(?i)[?&](action|oldid|diff|printable|returnto|veaction|mobileaction|limit|from|hide\w+|days)=|/Special:|Special%3A|title=Special:|(load|api|rest|opensearch_desc)\.php"
        yield Site(
            f"{url}/index.php", edit, lambda place: "/" + made[place][0].replace(" ", "_"), ["-a", f"exclude={exclude}"]
        )


# -- WordPress ---------------------------------------------------------------------------------------------------------

WORDPRESS = r"""<?php
define( 'DB_NAME', 'wp' ); define( 'DB_USER', 'wp' ); define( 'DB_PASSWORD', 'wp' );
define( 'DB_HOST', 'localhost:%(socket)s' ); define( 'DB_CHARSET', 'utf8mb4' ); define( 'DB_COLLATE', '' );
foreach ( [ 'AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT',
  'LOGGED_IN_SALT', 'NONCE_SALT' ] as $name ) { define( $name, $name . ' of a loopback site' ); }
define( 'WP_HTTP_BLOCK_EXTERNAL', true ); define( 'DISABLE_WP_CRON', true ); define( 'AUTOMATIC_UPDATER_DISABLED', true );
$table_prefix = 'wp_';
if ( ! defined( 'ABSPATH' ) ) { define( 'ABSPATH', __DIR__ . '/' ); }
require_once ABSPATH . 'wp-settings.php';
"""
FOOTER = r"""<?php
add_action( 'wp_footer', function () {
  printf( '<p class="made">Page made in %.2f s. Queries: %d</p>', timer_stop( 0, 3 ), get_num_queries() + random_int( 0, 9 ) );
  printf( '<script nonce="%1$s">var id = "%1$s";</script><!-- served for %1$s -->', bin2hex( random_bytes( 8 ) ) );
} );
add_action( 'comment_form', function () { echo '<input type="hidden" name="token" value="' . bin2hex( random_bytes( 8 ) ) . '">'; } );
"""
INSTALL = r"""<?php
define( 'WP_INSTALLING', true );
$_SERVER['HTTP_HOST'] = '%(host)s';
require '%(root)s/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install( 'Town news', 'admin', 'a@example.org', true, '', 'a-long-pass-phrase-1' );
update_option( 'siteurl', 'http://%(host)s' ); update_option( 'home', 'http://%(host)s' );
switch_theme( 'twentytwentyone' );
update_option( 'posts_per_page', 5 );
foreach ( json_decode( file_get_contents( '%(root)s/../posts.json' ) ) as $place => $post ) {
  $id = wp_insert_post( [ 'post_title' => $post[0], 'post_content' => '<!-- wp:paragraph --><p>' . $post[1] . '</p><!-- /wp:paragraph -->',
    'post_status' => 'publish', 'post_type' => $place %% 4 ? 'post' : 'page', 'post_author' => 1 ] );
  $ids[] = $id;
  if ( $place %% 3 === 1 ) { wp_insert_comment( [ 'comment_post_ID' => $id, 'comment_author' => 'Reader', 'comment_content' => 'Well said.' ] ); }
}
file_put_contents( '%(root)s/../ids.json', json_encode( $ids ) );
"""
EDIT = r"""<?php
$_SERVER['HTTP_HOST'] = '%(host)s';
require '%(root)s/wp-load.php';
global $wpdb;
$found = get_posts( [ 'title' => $argv[1], 'post_type' => [ 'post', 'page' ] ] )[0];
wp_update_post( [ 'ID' => $found->ID, 'post_content' => str_replace( $argv[2], $argv[3], $found->post_content ) ] );
"""


@contextmanager
def database(folder: Path) -> Iterator[Path]:
    """A MariaDB of one's own, on a socket alone."""
    data, sock = folder / "mysql", folder / "mysql.sock"
    who = ["--user=root"] if os.geteuid() == 0 else []
    subprocess.run(
        ["mariadb-install-db", f"--datadir={data}", "--auth-root-authentication-method=normal", *who],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    options = ["--no-defaults", f"--datadir={data}", f"--socket={sock}", "--skip-networking", *who]
    with running(["mariadbd", *options], folder / "mysql.log", sock.exists):
        orders = "create database wp; create user wp@localhost identified by 'wp'; grant all on wp.* to wp@localhost"
        subprocess.run(["mariadb", f"--socket={sock}", "-u", "root", "-e", orders], check=True, timeout=60)
        yield sock


@contextmanager
def wordpress(folder: Path, port: int, number: int) -> Iterator[Site]:
    """With a MariaDB of its own; addresses such as ``/?p=8``."""
    folder.mkdir(parents=True)
    root = folder / "site"
    shutil.copytree("/usr/share/wordpress", root, symlinks=False, ignore_dangling_symlinks=True)
    names = {"root": root, "host": f"{ADDRESS}:{port}"}
    (folder / "posts.json").write_text(json.dumps(made := pages(number)))
    (root / "wp-content/mu-plugins").mkdir(exist_ok=True)
    (root / "wp-content/mu-plugins/footer.php").write_text(FOOTER)
    for name, script in (("install.php", INSTALL), ("edit.php", EDIT)):
        (folder / name).write_text(script % names)
    with database(folder) as sock:
        (root / "wp-config.php").write_text(WORDPRESS % {"socket": sock})
        php(folder / "install.php", folder=folder)

        def edit(place: int) -> None:
            title, body = made[place]
            php(folder / "edit.php", title, body, changed(body, place), folder=folder)

        with served(folder, root, port):
            exclude = r"wp-json|wp-login|xmlrpc|replytocom|/feed|feed=|wp-admin|rest_route"
            ids = json.loads((folder / "ids.json").read_text())
            more = ["-a", f"exclude={exclude}"]
            yield Site(
                f"http://{ADDRESS}:{port}/", edit, lambda place: f"{'p' if place % 4 else 'page_id'}={ids[place]}", more
            )


# -- DokuWiki ----------------------------------------------------------------------------------------------------------


@contextmanager
def dokuwiki(folder: Path, port: int, number: int) -> Iterator[Site]:
    """Files alone; its template shows the time of the last edit, and an image whose address has the current time."""
    folder.mkdir(parents=True)
    root = folder / "site"
    shutil.copytree("/usr/share/dokuwiki", root, symlinks=False, ignore_dangling_symlinks=True)
    for name in (
        "attic",
        "cache",
        "index",
        "locks",
        "media",
        "media_attic",
        "media_meta",
        "meta",
        "pages",
        "tmp",
        "log",
    ):
        (root / "data" / name).mkdir(parents=True, exist_ok=True)
    shutil.rmtree(root / "conf", ignore_errors=True)
    shutil.copytree("/etc/dokuwiki", root / "conf", ignore_dangling_symlinks=True)
    for name in ("local.php", "local.protected.php", "acl.auth.php", "users.auth.php"):
        (root / "conf" / name).unlink(missing_ok=True)
    (root / "conf/local.php").write_text(
        f"<?php $conf['title']='Town'; $conf['useacl']=0; $conf['savedir']='{root}/data'; $conf['autoplugin']=0; $conf['sitemap']=1;"
    )
    template = root / "lib/tpl/dokuwiki"
    (template / "footer.html").write_text("")
    (root / "inc/preload.php").write_text(f"<?php define('DOKU_CONF', '{root}/conf/');")  # not the packaged one's
    footer = template / "tpl_footer.php"
    made_in = "<p class=\"made\">Page made in <?php printf('%.2f', microtime(true)-$_SERVER['REQUEST_TIME_FLOAT']) ?> s. Queries: <?php echo random_int(20, 40) ?></p>"
    footer.write_text(footer.read_text() + made_in)
    made = pages(number)
    store = root / "data/pages"
    for place, (title, body) in enumerate(made):
        links = " ".join(f"[[page{(place + step) % number}]]" for step in (1, 2, 3))
        (store / f"page{place}.txt").write_text(f"====== {title} ======\n{body}\n\n{links}\n")
    for (place, _), when in zip(enumerate(made), over_a_year(), strict=False):
        os.utime(store / f"page{place}.txt", (when, when))
    (store / "start.txt").write_text("====== Town ======\n" + "".join(f"  * [[page{n}]]\n" for n in range(number)))

    php(root / "bin/indexer.php", "-q", folder=root)  # what its sitemap is made of
    (folder / "told").mkdir()
    (folder / "told/robots.txt").write_text(f"Sitemap: http://{ADDRESS}:{port}/doku.php?do=sitemap\n")

    def edit(place: int) -> None:
        one = store / f"page{place}.txt"
        one.write_text(one.read_text().replace(made[place][1], changed(made[place][1], place)))
        later = time.time() + 2  # its cache goes by whole seconds
        os.utime(one, (later, later))
        for told in (root / "data/cache").glob("sitemap.xml*"):
            told.unlink()  # as if a day had passed: it is made once a day

    with served(folder, root, port):
        exclude = r"[?&](do|idx|rev|sectok|image|ns|tab_\w+)=|/lib/exe/|feed\.php"
        start = f"http://{ADDRESS}:{port}/doku.php?id=start"
        yield Site(start, edit, lambda place: f"id=page{place}", ["-a", f"exclude={exclude}"])


KNOWN = {"wordpress": wordpress, "mediawiki": mediawiki, "dokuwiki": dokuwiki}

# -- captures ----------------------------------------------------------------------------------------------------------


def capture(url: str, output: Path, more: list[str]) -> dict[str, object]:
    """A capture by two visits; its report."""
    checkout = Path(__file__).parent.parent
    command = [
        sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={url}", "-a", "delay=0.05", "-a", f"output={output}",
        "-s", "LOG_LEVEL=WARNING", *more,
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=checkout, env=os.environ | {"SCRAPY_PROJECT": "demo"}, capture_output=True, text=True, timeout=900
    )
    (output.parent / f"{output.name}.log").write_text(done.stdout + done.stderr)
    if not (output / "report.json").exists():
        raise SystemExit(f"{output}: {done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    report: dict[str, object] = json.loads((output / "report.json").read_text())["captures"][0]
    return report


def counts(report: dict[str, object]) -> tuple[int, int, int]:
    """Pages captured, those that kept their content, and those that kept their bytes."""
    totals = report["coherence"]
    assert isinstance(totals, dict)
    return totals["captured"], totals["coherent"] + totals["same_content"], totals["coherent"]


def told(report: dict[str, object]) -> str:
    captured, content, byte = counts(report)
    return f"{content} of {captured} kept their content ({byte} to the byte)"


def edits_found(site: Site, number: int, output: Path, more: list[str]) -> str:
    """A capture while every fifth page is edited, one that was visited just before each time, as the log tells it."""
    log, made = output / "crawl.jsonl", pages(number)
    edits: list[Edit] = []
    stop = threading.Event()

    def visited() -> set[str]:
        lines = log.read_text().splitlines() if log.exists() else []
        return {json.loads(line)["url"] for line in lines if '"first"' in line and line.endswith("}")}

    def edit_visited() -> None:
        left = list(range(number))
        while left and len(edits) < number // 5 and not stop.wait(0.02):
            seen = visited()
            for place in [one for one in left if any(url.endswith(site.ending(one)) for url in seen)][:1]:
                left.remove(place)
                begun = time.time()
                site.edit(place)
                text = made[place][1]
                edits.append(Edit(site.ending(place), begun, time.time(), text, changed(text, place)))

    editor = threading.Thread(target=edit_visited)
    editor.start()
    try:
        capture(site.url, output, [*more, "-a", "delay=0.5"])
    finally:
        stop.set()
        editor.join()
    return compared(output, edits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=list(KNOWN), help=" ".join(KNOWN))
    parser.add_argument("--pages", type=int, default=30)
    args = parser.parse_args()
    for name in args.names:
        folder = args.folder.resolve() / name
        with KNOWN[name](folder / "cms", free_port(), args.pages) as site:
            more = site.more
            print(f"{name}: {told(capture(site.url, folder / 'first', more))}", flush=True)
            masks = folder / "masks.json"
            command = [Path(sys.executable).with_name("sharc"), "masks", folder / "first", "-o", masks]
            learned = subprocess.run(command, capture_output=True, text=True, timeout=300)
            print(learned.stdout, learned.stderr, sep="")
            if load_masks(masks):
                more = [*more, "-a", f"masks={masks}"]
                print(f"{name} with masks: {told(capture(site.url, folder / 'second', more))}", flush=True)
            print(f"{name}, edited meanwhile:\n{edits_found(site, args.pages, folder / 'third', more)}", flush=True)


if __name__ == "__main__":
    main()
