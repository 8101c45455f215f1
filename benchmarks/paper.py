"""The tables of the paper on synthetic sites (section 9.6), as printed, and how each cell is simulated.

Denev, Mazeika, Spaniol, Weikum: The SHARC framework for data quality in Web archiving. VLDB Journal 20 (2011).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sharc_crawler.lab.experiment import RunSpec
from sharc_crawler.lab.synthetic import SyntheticSpec


class Column(NamedTuple):
    """A method: what the paper calls it, our strategy, and whether it knows the site's pages in advance."""

    name: str
    strategy: str
    graph: str = "discover"


BLUR = (
    Column("SHARC offline", "sharc-offline", "known"),
    Column("SHARC online", "sharc-online"),
    Column("HF", "hottest-first:revisits=none"),
    Column("HL", "hottest-last:revisits=none"),
    Column("BFS", "bfs:revisits=none"),
    Column("DFS", "dfs:revisits=none"),
    Column("OP", "olston-pandey", "known"),
)
INCOHERENCE = (
    Column("Selective offline", "sharc-selective", "known"),
    Column("Selective online", "sharc-selective"),
    Column("Revisits", "sharc-revisits", "known"),
    Column("HF FIFO", "hottest-first:revisits=fifo"),
    Column("HF LIFO", "hottest-first:revisits=lifo"),
    Column("HL FIFO", "hottest-last:revisits=fifo"),
    Column("HL LIFO", "hottest-last:revisits=lifo"),
    Column("BFS FIFO", "bfs:revisits=fifo"),
    Column("BFS LIFO", "bfs:revisits=lifo"),
    Column("DFS FIFO", "dfs:revisits=fifo"),
    Column("DFS LIFO", "dfs:revisits=lifo"),
)


BASE = SyntheticSpec()


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One table (or half of Table 19): a measure of each method while one property of the site varies."""

    number: str
    title: str
    columns: tuple[Column, ...]
    varied: str  #: size, slow_down or skew
    leaves: str
    rows: dict[float, tuple[float, ...]]  #: value of what varies → the paper's numbers
    base: SyntheticSpec = BASE  #: the site, but for what varies

    @property
    def of_blur(self) -> bool:
        """Whether the table is of blur; else it is of the number of incoherent pages."""
        return self.columns[0] == BLUR[0]

    @property
    def measure(self) -> str:
        """The key of the measure among a run's facts."""
        return "average_blur" if self.of_blur else "incoherent"

    @property
    def expectation(self) -> str:
        """The key of what the measure is expected to be, by formula."""
        return "expected_blur" if self.of_blur else "expected_incoherent"

    @property
    def error(self) -> str:
        """The key of the measure's standard deviation, by formula."""
        return "blur_error" if self.of_blur else "incoherent_error"

    def _varied(self, value: float) -> dict[str, Any]:
        return {self.varied: int(value) if self.varied == "size" else value}

    def spec(self, value: float, column: Column, seed: int = 0) -> RunSpec:
        """How a cell is simulated."""
        site = replace(self.base, leaves=self.leaves, seed=seed, **self._varied(value))
        return RunSpec(site, column.strategy, graph=column.graph, seed=seed)


def _rows(text: str) -> dict[float, tuple[float, ...]]:
    """Rows of numbers; the first of each is what varies."""
    lines = (tuple(map(float, line.split())) for line in text.strip().splitlines())
    return {line[0]: line[1:] for line in lines}


TABLES = (
    PaperTable(
        "11",
        "Scalability: average blur per page",
        BLUR,
        "size",
        "cold",
        _rows("""
        1e4 1.21 1.70 1.75 2.26 2.00 1.80 2.28
        5e4 1.25 1.75 1.80 2.38 2.07 1.83 2.42
        1e5 1.27 1.77 1.82 2.44 2.13 1.87 2.48
        5e5 1.30 1.81 1.86 2.52 2.18 2.00 2.56
        1e6 1.31 1.83 1.87 2.55 2.19 2.01 2.59"""),
    ),
    PaperTable(
        "12",
        "Scalability: average blur per page",
        BLUR,
        "size",
        "hot",
        _rows("""
        1e4 1.19 1.21 2.24 1.44 1.28 1.22 2.25
        5e4 1.25 1.26 2.39 1.53 1.92 1.81 2.42
        1e5 1.26 1.27 2.43 1.55 1.36 1.30 2.47
        5e5 1.29 1.30 2.52 1.60 1.39 1.96 2.56
        1e6 1.31 1.31 2.55 1.61 2.21 1.94 2.59"""),
    ),
    PaperTable(
        "13",
        "Scalability: incoherence",
        INCOHERENCE,
        "size",
        "cold",
        _rows("""
        1e4  3075  3075  4104  4184  4140  4177  3079  4170  3719  4163  3995
        5e4 11940 11940 17327 17394 17959 17397 12100 17368 16072 17418 16366
        1e5 21378 21378 32051 32142 33705 32110 21533 32015 29033 32129 29395"""),
    ),
    PaperTable(
        "14",
        "Scalability: incoherence",
        INCOHERENCE,
        "size",
        "hot",
        _rows("""
        1e4  3019  3039  4143  4140  4057  4165  3238  4136  3785  4175  3999
        5e4 11830 11997 17377 17321 17925 17330 12364 17288 16582 17366 15397
        1e5 21417 21630 32295 32050 33776 32313 22165 32028 30618 32181 29664"""),
    ),
    PaperTable(
        "15",
        "Crawl duration: average blur per page",
        BLUR,
        "slow_down",
        "cold",
        _rows("""
        1   1.20  1.68  1.97  2.25  2.21  1.78  2.28
        2   2.41  3.38  3.96  4.50  4.36  3.46  4.41
        3   3.58  5.02  5.89  6.70  6.48  5.07  6.54
        4   4.79  6.72  7.88  8.98  8.81  7.28  8.77
        5   5.99  8.38  9.83 11.21 10.77  8.58 10.95
        10 12.00 16.83 19.75 22.48 21.62 16.75 22.00"""),
    ),
    PaperTable(
        "16",
        "Crawl duration: average blur per page",
        BLUR,
        "slow_down",
        "hot",
        _rows("""
        1   1.20  1.22  2.27  2.10  1.86  1.85  2.27
        2   2.39  2.42  4.48  4.17  2.47  2.46  4.40
        3   3.60  3.65  6.73  6.25  3.92  4.02  6.56
        4   4.80  4.86  8.99  8.37  7.55  7.47  8.77
        5   5.98  6.07 11.19 10.42  8.29  8.24 10.94
        10 12.01 12.18 22.47 20.92 17.67 18.79 22.03"""),
    ),
    PaperTable(
        "17",
        "Crawl duration: incoherence",
        INCOHERENCE,
        "slow_down",
        "cold",
        _rows("""
        1  3058 3058 4215 4172 4118 4212 3062 4176 3931 4222 3695
        2  4608 4607 5865 5875 5359 5857 4919 5811 5317 5887 5542
        3  5672 5673 6945 7009 6193 6984 6301 6984 6215 6975 6336
        4  6255 6286 7695 7678 6646 7711 7287 7701 6814 7703 6842
        5  6721 6753 8207 8214 7009 8224 7985 8224 7221 8195 7414
        10 7906 7903 9443 9419 8003 9432 9488 9415 8561 9425 8619"""),
    ),
    PaperTable(
        "18",
        "Crawl duration: incoherence",
        INCOHERENCE,
        "slow_down",
        "hot",
        _rows("""
        1  3002 3006 4102 4115 4083 4150 3216 4091 3735 4170 4006
        2  4547 4859 5778 5767 5281 5741 5288 5733 5598 5818 5305
        3  5552 6387 6835 6894 6066 6833 6774 6896 6531 6887 6260
        4  6221 6466 7697 7689 6696 7688 7816 7690 6856 7681 6953
        5  6744 6847 8208 8215 7092 8210 8541 8222 7379 8195 7634
        10 7959 8075 9431 9436 8118 9414 9760 9403 8708 9446 8309"""),
    ),
    PaperTable(
        "19a",
        "Skew: average blur per page",
        BLUR,
        "skew",
        "cold",
        _rows("""
        0.5 60.49 67.00 73.53 73.84 71.79 67.63 69.23
        1.0  2.57  3.35  3.99  4.40  4.29  3.54  4.20
        1.5  0.61  0.88  1.08  1.21  1.18  1.00  1.22
        2.0  0.37  0.58  0.70  0.74  0.74  0.63  0.74"""),
    ),
    PaperTable(
        "19b",
        "Skew: average blur per page",
        BLUR,
        "skew",
        "hot",
        _rows("""
        0.5 60.38 62.38 73.71 72.02 69.01 69.56 69.23
        1.0  2.55  2.61  4.39  4.17  3.10  3.15  4.16
        1.5  0.62  0.62  1.22  1.16  1.06  1.11  1.22
        2.0  0.38  0.38  0.75  0.71  0.38  0.38  0.75"""),
    ),
    PaperTable(
        "20",
        "Skew: incoherence",
        INCOHERENCE,
        "skew",
        "cold",
        _rows("""
        1.0 7061 7073 8518 8517 7257 8504 8110 8540 7623 8509 7567
        1.5  365  367 1064 1037 1308 1060  710 1056 1119 1035  935
        2.0   11   35  169  174  246  176  210  178  223  170  175"""),
    ),
    PaperTable(
        "21",
        "Skew: incoherence",
        INCOHERENCE,
        "skew",
        "hot",
        _rows("""
        1.0 7012 7151 8455 8479 7283 8475 8587 8516 7790 8486 7316
        1.5  355  355 1018 1010 1237 1033  362 1035  714 1022 1157
        2.0   20   20  182  174  225  171   22  177  186  181  169"""),
    ),
)
