"""What accuracy.py's rows come to, and how they are printed."""

from __future__ import annotations

import statistics

METHODS = ("calibrated", "anchored")


def _count(rows: list[dict]) -> str:
    return f"{sum(row['truth_in_interval'] for row in rows)} of {len(rows)}"


def _typical_bias(rows: list[dict], method: str) -> float | None:
    return statistics.median(abs(row[method]["bias_pct"]) for row in rows) if rows else None


def summary(found: dict[str, list]) -> dict:
    """What the issue asks of the table."""
    result: dict = {}
    single = [row for row in found["whole"] if row["one_critical_thread"]]
    if single:
        small = [row for row in found["whole"] if row["inflation"] <= 3]
        result["whole"] = {
            "workloads": len(found["whole"]),
            "beyond_allowed_on_one_thread": [row["workload"] for row in single if not row["within"]],
        }
        for method in ("calibrated", "anchored"):
            worst = max(found["whole"], key=lambda row: abs(row[method]["bias_pct"]))
            result["whole"][method] = {
                "median_abs_bias_pct": _typical_bias(found["whole"], method),
                "up_to_3": _typical_bias(small, method),
                "worst_up_to_3": max((abs(row[method]["bias_pct"]) for row in small), default=None),
                "worst": [worst["workload"], worst[method]["bias_pct"], worst["inflation"]],
                "as_it_was": statistics.median(
                    abs(row[method]["as_it_was_bias_pct"]) for row in found["whole"]
                ),
                "first_window": statistics.median(
                    abs(row[method]["first_window_bias_pct"]) for row in found["whole"]
                ),
                "truth_in_interval": _count([row[method] for row in found["whole"]]),
            }
    rows = [row for row in found["operations"] if not row["refused"] and row["inflation"] <= 3.5]
    refused = sorted({row["combination"] for row in found["operations"] if row["refused"]})
    for method in ("calibrated", "anchored") if rows else ():
        errors = sorted(abs(row[method]["share_error_points"]) for row in rows)
        widths = [row[method]["half_width_of_removed"] for row in rows]
        large = [row for row in rows if row["true_share_pct"] >= 10]
        result[f"operations, {method}"] = {
            "operations": len(rows),
            "share_error_median": statistics.median(errors),
            "share_error_p90": errors[int(0.9 * (len(errors) - 1))],
            "share_error_worst": errors[-1],
            "raw_share_error_median": statistics.median(
                abs(r[method]["raw_share_error_points"]) for r in rows
            ),
            "meets_truth_pct": round(
                100 * sum(row[method]["interval_meets_truth"] for row in rows) / len(rows)
            ),
            "covered_pct": round(100 * sum(row[method]["truth_in_interval"] for row in rows) / len(rows)),
            "median_half_width_of_removed": statistics.median(w for w in widths if w is not None),
            "not_resolved_of_large_pct": round(
                100 * sum(r[method]["not_resolved"] for r in large) / max(len(large), 1)
            ),
            "refused": refused,
        }
    return result


def line(row: dict) -> str:
    """One row for the terminal."""
    if "workload" not in row:
        return _line_of_operation(row)
    each = "  ".join(
        f"{method} {row[method]['bias_pct']:+6.1f} % {row[method]['interval_pct']} "
        f"{'in' if row[method]['truth_in_interval'] else 'OUT'} "
        f"(as it was {row[method]['as_it_was_bias_pct']:+.1f}, "
        f"first window {row[method]['first_window_bias_pct']:+.1f})"
        for method in METHODS
    )
    return (
        f"{row['workload']:42} {row['unprofiled_ms']:8.2f} ms x{row['inflation']:5.2f}  allowed "
        f"{row['allowed_pct']:.1f}  {each}  {row['windows_at_known_speed']} of {row['windows']} windows"
        f"{'' if row['at_known_speed'] else ', all used'}"
    )


def _line_of_operation(row: dict) -> str:
    one, two = row["calibrated"], row["anchored"]
    return (
        f"{row['combination'][:24]:24} {row['operation']:10} x{row['inflation']:5.2f} "
        f"add {row['additivity']:.2f}{' refused' if row['refused'] else ''} "
        f"true {row['true_us']:8.1f} us {row['true_share_pct']:5.1f} %  "
        f"raw {one['raw_share_error_points']:+6.1f}  calibrated {one['share_error_points']:+6.1f} "
        f"({one['time_error_pct']:+.0f} %) {'in' if one['interval_meets_truth'] else 'OUT'} "
        f"w {one['half_width_of_removed']}  anchored {two['share_error_points']:+6.1f} "
        f"{'in' if two['interval_meets_truth'] else 'OUT'}  "
        f"{row['windows_used']} of {row['windows']} windows"
    )


def tables(found: dict[str, list]) -> str:
    """The tables of docs/correction.md."""
    whole = [
        "| workload | unprofiled ms | × | calibrated bias % [interval] | allowed | truth in | "
        "anchored bias % [interval] | truth in | first window × | calibrated % | anchored % | "
        "any speed: calibrated % | anchored % |",
        "|--|--|--|--|--|--|--|--|--|--|--|--|--|",
        *map(_workload_row, found["whole"]),
    ]
    operations = [
        "| scan of | operation | × | true share % | raw error, points | calibrated error, points | "
        "interval meets truth | anchored error | interval meets truth |",
        "|--|--|--|--|--|--|--|--|--|",
        *map(_operation_row, found["operations"]),
    ]
    return "\n".join([*whole, "", *operations])


def _workload_row(row: dict) -> str:
    single = row["one_critical_thread"]
    calibrated, anchored = row["calibrated"], row["anchored"]
    cells = [
        row["workload"] + ("" if single else " †") + ("" if row["at_known_speed"] else " ‡"),
        f"{row['unprofiled_ms']:.2f}",
        f"{row['inflation']:.2f}",
        f"{calibrated['bias_pct']:+.1f} {_interval(calibrated)}",
        f"{row['allowed_pct']:.1f}" + (" **missed**" if single and not row["within"] else ""),
        _yes(calibrated["truth_in_interval"]),
        f"{anchored['bias_pct']:+.1f} {_interval(anchored)}",
        _yes(anchored["truth_in_interval"]),
        f"{row['first_inflation']:.2f}",
        *(f"{row[method]['first_window_bias_pct']:+.1f}" for method in METHODS),
        *(f"{row[method]['as_it_was_bias_pct']:+.1f}" for method in METHODS),
    ]
    return f"| {' | '.join(cells)} |"


def _operation_row(row: dict) -> str:
    calibrated, anchored = row["calibrated"], row["anchored"]
    cells = [
        row["combination"],
        row["operation"],
        f"{row['inflation']:.2f}",
        f"refused ({row['additivity']:.2f})" if row["refused"] else f"{row['true_share_pct']:.1f}",
        f"{calibrated['raw_share_error_points']:+.1f}",
        f"{calibrated['share_error_points']:+.1f}",
        _yes(calibrated["interval_meets_truth"]),
        f"{anchored['share_error_points']:+.1f}",
        _yes(anchored["interval_meets_truth"]),
    ]
    return f"| {' | '.join(cells)} |"


def _interval(method: dict) -> str:
    low, high = method["interval_pct"]
    return f"[{low:+.0f}, {high:+.0f}]"


def _yes(true: bool) -> str:
    return "yes" if true else "no"
