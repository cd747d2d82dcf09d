/** Builds the plots of a report from its results. */
import type { Result } from "../report.ts"
import { type Bar, bars, lines, type Row } from "./draw.ts"
import { show } from "./text.ts"

export interface Figure {
  readonly name: string
  readonly title: string
  /** Content of the plot and method of measurement. */
  readonly caption: string
  readonly draw: (width: number) => string
}

export function figures(results: readonly Result[]): readonly Figure[] {
  const find = (id: string): Result | undefined => results.find((result) => result.id === id)
  return [
    latency(find("append.latency")),
    batches(find("append.batch")),
    history(find("resume.history")),
    growth(results.filter(({ id }) => id.startsWith("growth."))),
    replay(results.filter(({ id }) => id.includes("replay."))),
    peers(results.filter(({ peers: others }) => others !== undefined)),
  ].flatMap((figure) => figure ?? [])
}

function latency(result: Result | undefined): Figure | undefined {
  if (result?.series === undefined) return undefined
  const rows = rowsOf(result).map((row) => ({ ...row, x: 1 / (1 - row.x) }))
  return {
    name: "append-latency",
    title: "How long one append takes",
    caption: `Messages of 2 KB, each awaited, durability os, on ${result.runtime}, compared with a loop of stringify, write and stat.`,
    draw: (width) =>
      lines(rows, width, {
        x: {
          label: "share of appends that take no longer",
          type: "log",
          ticks: [2, 10, 100, 1_000, 10_000],
          tickFormat: (x: number) => `${Number((100 * (1 - 1 / x)).toFixed(2))}%`,
        },
        y: { label: "microseconds", type: "log", ticks: decades(rows), tickFormat: "~s" },
      }),
  }
}

function batches(result: Result | undefined): Figure | undefined {
  if (result?.series === undefined) return undefined
  return {
    name: "append-batches",
    title: "Messages a second by batch size",
    caption: `Messages of 2 KB in one append, each append awaited, durability os, on ${result.runtime}.`,
    draw: (width) =>
      lines(rowsOf(result), width, {
        x: {
          label: "messages in one append",
          type: "log",
          base: 2,
          ticks: [1, 4, 16, 64, 256, 1_024],
          tickFormat: "d",
        },
        y: { label: "messages a second", tickFormat: "~s", zero: true },
      }),
  }
}

function history(result: Result | undefined): Figure | undefined {
  if (result?.series === undefined) return undefined
  return {
    name: "resume",
    title: "Opening a session by the length of its history",
    caption: `From open() to the context or the last 50 messages, in a new process with the files in the system's cache, on ${result.runtime}.`,
    draw: (width) =>
      lines(rowsOf(result), width, {
        x: { label: "megabytes of history" },
        y: { label: "milliseconds", zero: true },
      }),
  }
}

function growth(results: readonly Result[]): Figure | undefined {
  const rows = results.flatMap(({ id, work = {} }) =>
    Object.entries(work).flatMap(([name, value]): Bar[] => {
      const [who = "", what] = name.split(" ")
      if (what !== "growth") return []
      return [{ group: id, who, value, label: `${show(value)} of ${show(work[`${who} work`] ?? 1)}`, ours: true }]
    }),
  )
  if (rows.length === 0) return undefined
  return {
    name: "growth",
    title: "Calls on four times as much",
    caption: "How many times as long each call takes, of how many times as much it reads. Shorter is better.",
    draw: (width) => bars(rows, width),
  }
}

function replay(results: readonly Result[]): Figure | undefined {
  const rows = results.flatMap(({ id, runtime, value, raw }): Bar[] => {
    const group = `${id}, ${runtime}`
    const bar = (who: string, ms: number): Bar => ({
      group,
      who,
      value: ms,
      label: `${show(ms)} ms`,
      ours: who === "@sessions",
    })
    return [bar("@sessions", value), ...(raw === undefined ? [] : [bar("read and parse", raw)])]
  })
  if (rows.length === 0) return undefined
  return {
    name: "replay",
    title: "Reading every entry of 200 MB",
    caption: "Compared with a loop that reads, finds line ends and parses. Shorter is better.",
    draw: (width) => bars(rows, width),
  }
}

/** What the README shows of the comparison with other programs, by its heading there. */
const SHORT: Readonly<Record<string, string>> = {
  "peers.append": "Append a message of 2 KB",
  "peers.open.116mb.compacted": "Open a compacted session of 116 MB",
  "peers.open.116mb": "Read all messages of a session of 116 MB",
  "peers.list.1000": "List 1,000 sessions",
}

/** The comparison with other programs, shortened to four operations. */
export function shortComparison(results: readonly Result[]): Figure | undefined {
  return peers(
    Object.entries(SHORT).flatMap(([id, heading]) => {
      const result = results.find((one) => one.id === id && one.peers !== undefined)
      return result === undefined ? [] : [{ ...result, id: heading }]
    }),
  )
}

function peers(results: readonly Result[]): Figure | undefined {
  const rows = results.flatMap(({ id, unit, value, peers: others = {} }): Bar[] => {
    const bar = (who: string, time: number): Bar => ({
      group: id,
      who,
      value: time,
      label: `${show(time)} ${unit.split("/")[0] ?? ""}`,
      ours: who === "@sessions",
    })
    return [bar("@sessions", value), ...Object.entries(others).map(([who, time]) => bar(who, time))]
  })
  if (rows.length === 0) return undefined
  return {
    name: "peers",
    title: "Compared with other programs",
    caption: "The same conversation in each; each group of bars has its own scale. Shorter is better.",
    draw: (width) => bars(rows, width),
  }
}

/** 1, 3, 10, 30 … up to the largest value. */
function decades(rows: readonly Row[]): readonly number[] {
  const values = rows.map(({ y }) => y)
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return [1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5].filter((tick) => tick >= least && tick <= most)
}

function rowsOf({ series = {} }: Result): Row[] {
  return Object.entries(series).flatMap(([what, points]) => points.map(([x, y]) => ({ x, y, what })))
}
