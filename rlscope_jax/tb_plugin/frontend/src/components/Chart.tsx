import { BarChart, LineChart, type BarSeriesOption, type LineSeriesOption } from "echarts/charts";
import {
  GridComponent, MarkLineComponent, TooltipComponent, type GridComponentOption, type MarkLineComponentOption,
  type TooltipComponentOption,
} from "echarts/components";
import { init, use, type ComposeOption, type EChartsType } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { useEffect, useRef } from "preact/hooks";

use([BarChart, LineChart, GridComponent, MarkLineComponent, TooltipComponent, SVGRenderer]);

export type ChartOption = ComposeOption<
  BarSeriesOption | LineSeriesOption | GridComponentOption | MarkLineComponentOption | TooltipComponentOption
>;

interface Props {
  option: ChartOption;
  /** What is to be seen, in words. */
  label: string;
  height: number;
  dark: boolean;
}

/** A chart as wide as its place. */
export function Chart({ option, label, height, dark }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType | null>(null);
  useEffect(() => {
    const made = init(place.current!, null, { renderer: "svg" });
    chart.current = made;
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(place.current!);
    return () => {
      observer.disconnect();
      made.dispose();
    };
  }, []);
  useEffect(() => chart.current!.setOption({ ...usual(dark), ...option }, true), [option, dark]);
  return <div ref={place} class="chart" role="img" aria-label={label} style={{ height: `${height}px` }} />;
}

export interface Ink {
  text: string;
  faint: string;
  line: string;
  page: string;
}

export function inkOf(dark: boolean): Ink {
  return dark
    ? { text: "#e6e9ee", faint: "#a3adba", line: "#3a424d", page: "#1b2027" }
    : { text: "#1b1f24", faint: "#59636e", line: "#dde2e8", page: "#ffffff" };
}

function usual(dark: boolean): ChartOption {
  return { animation: false, textStyle: { fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", color: inkOf(dark).text } };
}

/** An axis as all charts here have it. */
export function axis(dark: boolean, name: string, place: "x" | "y") {
  const { faint, line } = inkOf(dark);
  return {
    name,
    nameLocation: place === "x" ? ("middle" as const) : ("end" as const),
    nameGap: place === "x" ? 26 : 12,
    nameTextStyle: { color: faint, fontSize: 12, ...(place === "y" && { align: "left" as const, padding: [0, 0, 0, -34] }) },
    axisLabel: { color: faint, fontSize: 12, hideOverlap: true },
    axisLine: { lineStyle: { color: line } },
    axisTick: { lineStyle: { color: line } },
    splitLine: { show: place === "y", lineStyle: { color: line } },
  };
}

/** What is under the mouse: of each series there, and where on the axis that is. */
export interface Pointed {
  seriesIndex: number;
  dataIndex: number;
  value: unknown;
  axisValue: unknown;
}

/** Lines of words on what is under the mouse: as elements, since names may hold markup. */
export function tooltip(dark: boolean, words: (params: Pointed[]) => string[]) {
  const { text, line, page } = inkOf(dark);
  return {
    trigger: "axis" as const,
    confine: true,
    axisPointer: { lineStyle: { color: text }, shadowStyle: { color: "rgb(128 128 128 / 15%)" } },
    backgroundColor: page,
    borderColor: line,
    textStyle: { color: text, fontSize: 13 },
    formatter: (params: unknown) => {
      const box = document.createElement("div");
      for (const told of words(Array.isArray(params) ? params : [params])) {
        box.append(Object.assign(document.createElement("div"), { textContent: told }));
      }
      return box;
    },
  };
}
