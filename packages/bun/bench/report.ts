/** Ways of doing the same work: each in a process of its own, since one's garbage is the next one's pause, all of them in turns. */
import { fork } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"

export interface Way {
  readonly name: string
  readonly run: () => Promise<void> | void
}

export interface Group {
  readonly title: string
  /** Puts what is needed into an empty folder, once for all ways. */
  readonly prepare: (root: string) => Promise<void>
  /** The ratio is to the first one's. */
  readonly ways: (root: string) => readonly Way[]
  /** Shows the time of one run. */
  readonly show: (seconds: number, root: string) => string
}

export interface MeasureOptions {
  /** Calls {@link serve} when it is started with `--serve TITLE NAME ROOT`. */
  readonly program: string
  readonly rounds: number
  readonly folder: string
  /** Counts what the processors worked for it, on all threads, instead of what a clock says: on a machine with other work. */
  readonly cpu: boolean
}

/** A table of all ways of a group. */
export async function measure(group: Group, { program, rounds, folder, cpu }: MeasureOptions): Promise<string> {
  const root = mkdtempSync(join(folder, "sessions-bun-bench-"))
  try {
    await group.prepare(root)
    const ways = group.ways(root)
    const running = ways.map(({ name }) => startWay(program, [...(cpu ? ["--cpu"] : []), group.title, name, root]))
    const times = ways.map((): number[] => [])
    for (let round = -WARM_UP; round < rounds; round++) {
      for (const [index, way] of running.entries()) {
        const seconds = await way.run()
        if (round >= 0) times[index]?.push(seconds)
      }
    }
    for (const way of running) way.end()
    return table(group, root, ways, times)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** The other side: runs one way whenever it is asked to. */
export function serve({ run }: Way, cpu: boolean): void {
  const now = (): number => {
    const { user, system } = process.cpuUsage()
    return cpu ? (user + system) / 1_000_000 : performance.now() / 1_000
  }
  const measured = async (): Promise<void> => {
    const start = now()
    await run()
    process.send?.(now() - start)
  }
  process.on("message", () => void measured())
}

const WARM_UP = 2

/** Starts a process that waits to be asked, and asks it. */
function startWay(program: string, args: readonly string[]): { run(): Promise<number>; end(): void } {
  const child = fork(program, ["--serve", ...args])
  let settle: { resolve: (seconds: number) => void; reject: (error: Error) => void } | undefined
  child.on("message", (seconds) => settle?.resolve(seconds as number))
  child.on("exit", (code) => settle?.reject(new Error(`A measuring process ended with ${String(code)}.`)))
  return {
    run: () =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject }
        child.send("run")
      }),
    end() {
      settle = undefined
      child.kill()
    },
  }
}

function table(
  { title, show }: Group,
  root: string,
  ways: readonly Way[],
  times: readonly (readonly number[])[],
): string {
  const first = median(times[0] ?? [])
  const rows = ways.map(({ name }, index) => {
    const own = times[index] ?? []
    const spread = `${show(Math.max(...own), root)} to ${show(Math.min(...own), root)}`
    return `| ${name} | ${show(median(own), root)} | ${spread} | ${(first / median(own)).toFixed(2)} |`
  })
  return [`| ${title} | median | spread | ratio |`, "|---|---|---|---|", ...rows, ""].join("\n")
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}
