"""Log-linear regression of change rates on features of pages."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.rates.history import CHANGED, DATED

STEPS = 50
HALVINGS = 30  #: maximum of halvings of a step that overshoots
ROUNDING = 1e-12  #: relative rounding error of the log-likelihood
BLOCK = 1 << 15  #: rows predicted together
FLAT = 0.05  #: minimum scale: features that vary less may be a trace of the outcome, and are not scaled up


class LogLinear:
    """log λ = β_0 + β·x with a ridge penalty, fitted to intervals with a change, none, or a dated one.

    An interval of length t shows a change with probability 1 − e^{−λ t}. Features are standardised before the penalty.

    Parameters
    ----------
    ridge:
        penalty on β² (features have unit variance); 30 weighs like a few dozen changes

    Attributes
    ----------
    coefficients_:
        β of the standardised features, the intercept first
    fitted_:
        the fitted rate of every training row

    Examples
    --------
    >>> x = np.repeat([[0.0], [1.0]], 500, axis=0)
    >>> bits = (np.arange(1000) % 10 < np.where(x[:, 0] > 0, 6, 1)).astype(np.int8)
    >>> LogLinear(ridge=1e-6).fit(x, bits, np.ones(1000)).rate(np.array([[0.0], [1.0]])).round(3).tolist()
    [0.105, 0.916]

    """

    def __init__(self, ridge: float = 30.0) -> None:
        self.ridge = ridge

    def fit(self, features: NDArray[np.float64], changed: NDArray[np.int8], lengths: NDArray[np.float64]) -> Self:
        """Maximize the penalised likelihood, which is concave, by Newton's method; one row per interval."""
        self.mean_ = features.mean(0)
        off = features - self.mean_
        self.scale_ = np.maximum(np.sqrt(np.einsum("ij,ij->j", off, off) / len(off)), FLAT)
        x = self._design(features)
        penalty = np.full(x.shape[1], self.ridge)
        penalty[0] = 1e-6
        beta = np.zeros(x.shape[1])
        beta[0] = np.log(((changed > 0).sum() + 0.5) / lengths.sum())
        mean, value = _value(x, beta, penalty, changed, lengths)
        for _ in range(STEPS):
            score, weight = _slope(mean, changed)
            hessian = (x * weight[:, None]).T @ x + np.diag(penalty)
            step = np.linalg.solve(hessian, x.T @ score - penalty * beta)
            done = np.abs(step).max() < 1e-6
            step /= max(1.0, np.abs(step).max())
            for _ in range(HALVINGS):  # an outlier may make a full step raise its rate by e^60
                mean, new = _value(x, beta + step, penalty, changed, lengths)
                if new >= value - ROUNDING * abs(value):
                    break
                step /= 2.0
            beta, value = beta + step, new
            if done:
                break
        self.coefficients_, self.fitted_ = beta, mean / lengths
        return self

    def rate(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rate of every row, per unit of the fitted lengths."""
        blocks = (features[at : at + BLOCK] for at in range(0, len(features) or 1, BLOCK))
        logs = np.concatenate([self._design(block) @ self.coefficients_ for block in blocks])
        return np.asarray(np.exp(np.clip(logs, -50.0, 50.0)))

    def _design(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        standard = (features - self.mean_) / self.scale_
        return np.concatenate([np.ones((len(features), 1)), standard], axis=1)


def _value(
    x: NDArray[np.float64],
    beta: NDArray[np.float64],
    penalty: NDArray[np.float64],
    changed: NDArray[np.int8],
    lengths: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float]:
    """Return λt of each interval, and the penalised log-likelihood up to a constant."""
    log_rate = np.clip(x @ beta, -50.0, 50.0)
    mean = np.exp(log_rate) * lengths
    logs = np.where(changed == CHANGED, np.log(-np.expm1(-np.maximum(mean, 1e-300))), -mean)
    return mean, float(logs.sum() + log_rate[changed == DATED].sum() - (penalty * beta**2).sum() / 2.0)


def _slope(mean: NDArray[np.float64], changed: NDArray[np.int8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ∂ log L/∂ log λ of each interval at λt = ``mean``, and minus its derivative."""
    z = np.clip(mean, 1e-9, 700.0)
    growth = np.expm1(z)
    phi = z / growth
    hit = changed == CHANGED
    return np.where(hit, phi, (changed == DATED) - mean), np.where(hit, z * (phi - (1.0 - phi) / growth), mean)
