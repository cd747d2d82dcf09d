/** A round: processes that go on with one turn, what they are killed and stopped at, and what is wrong with their log. */
import * as fs from "node:fs"
import { createToolCalls } from "@sessions/tool-calls"
import { createDice, type Dice } from "../../../core/test/dice.ts"
import { start as startProcess } from "../../../fs/test/crash/processes.ts"
import { openBank } from "./bank.ts"
import { leftWrong, toldWrongly } from "./judge.ts"
import { logOf, type Place, type Plan, SESSION, TOOLS, type Way } from "./plan.ts"
import { openSessions } from "./stores.ts"
import { beginning } from "./ways.ts"

/** About as many as a process of each way has; in some rounds it ends by itself. */
const STEPS: Readonly<Record<Way, number>> = {
  calls: 16,
  lease: 34,
  streamText: 34,
  generateText: 34,
  chats: 30,
  agents: 12,
}
/** As many as the first process of each way has at least. That of the first round dies within them, so that no run is without a crash. */
const SURE_STEPS = 6
/** How many charges a turn has. */
const CHARGES: Readonly<Record<Way, number>> = {
  calls: 2,
  lease: 3,
  streamText: 3,
  generateText: 3,
  chats: 1,
  agents: 1,
}
/** Ends a hang; a machine with much to do needs many times what an idle one does. */
const HANG_MS = 120_000

/** Whether it can be seen that a process has stopped. */
const canStop = fs.existsSync("/proc/self/stat")

const NODE = { name: "node", command: process.execPath, args: [] } as const
/** A process of a round, until it has ended or stopped itself. */
interface Running {
  readonly plan: Plan
  /** Whether it has stopped itself. */
  readonly paused: Promise<boolean>
  readonly ended: Promise<void>
  readonly go: () => void
}

export interface RoundOptions {
  readonly seed: number
  readonly way: Way
  readonly place: Place
  readonly folder: string
  /** Its first process dies within the steps that each process has. */
  readonly isFirst: boolean
  readonly counts: Counts
  /** The bundled program. */
  readonly program: string
}

export interface Counts {
  killed: number
  stopped: number
  processes: number
  charges: number
}

/** Returns what is wrong; nothing for none. */
export function runRound(o: RoundOptions): Promise<readonly string[]> {
  return new Round(o).run()
}

class Round {
  readonly #dice: Dice
  readonly #o: RoundOptions
  readonly #takesKeys: boolean
  readonly #wrong = new Set<string>()
  #isFirst: boolean
  #started = 0

  constructor(o: RoundOptions) {
    this.#o = o
    this.#dice = createDice(o.seed)
    this.#isFirst = o.isFirst
    this.#takesKeys = this.#dice.chance(0.5)
  }

  async run(): Promise<readonly string[]> {
    const dice = this.#dice
    const { counts, folder, place, way } = this.#o
    await this.#begin()
    const stood: Running[] = []
    for (const count of [1, 2, 1]) {
      const running = Array.from({ length: count }, () => this.#start(false))
      // One that stood still goes on beside the next ones, behind them, or at the end.
      if (dice.chance(0.4)) for (const one of stood.splice(0)) await this.#goOn(one)
      for (const one of running) {
        if (await one.paused) stood.push(one)
        await this.#look()
      }
      if (dice.chance(0.4)) for (const one of stood.splice(0)) await this.#goOn(one)
    }
    for (const one of stood) await this.#goOn(one)
    await this.#start(true).ended
    await this.#look()
    const sessions = await openSessions(place)
    const charged = openBank(folder, this.#takesKeys).charges()
    counts.charges += charged.length
    for (const text of await leftWrong(await sessions.open(logOf(way)), charged, CHARGES[way])) this.#wrong.add(text)
    await sessions.close()
    return [...this.#wrong]
  }

  async #begin(): Promise<void> {
    const { place, way } = this.#o
    // These make their logs themselves.
    if (way === "agents" || way === "chats") return
    const sessions = await openSessions(place)
    const session = await sessions.create({ id: SESSION })
    if (way === "calls") await session.append(beginning(createToolCalls(session, { tools: TOOLS })))
    await sessions.close()
  }

  async #look(): Promise<void> {
    const { folder, place, way } = this.#o
    const requests = openBank(folder, this.#takesKeys).requests()
    if (requests.length === 0) return
    const sessions = await openSessions(place)
    for (const text of await toldWrongly(await sessions.open(logOf(way)), requests)) this.#wrong.add(text)
    await sessions.close()
  }

  async #goOn(one: Running): Promise<void> {
    one.go()
    await one.ended
    await this.#look()
  }

  #start(isAlone: boolean): Running {
    const dice = this.#dice
    const steps = STEPS[this.#o.way]
    const fate = isAlone ? 1 : this.#isFirst ? 0 : dice.next()
    const { place, folder, way } = this.#o
    const plan: Plan = {
      place,
      folder,
      way,
      n: this.#started++,
      runs: !isAlone && dice.chance(0.3),
      takesKeys: this.#takesKeys,
      isAlone,
      killAt: fate < 0.6 ? dice.below(this.#isFirst ? SURE_STEPS : steps) : -1,
      stopAt: canStop && fate > 0.4 && fate < 0.85 ? dice.below(steps) : -1,
    }
    this.#isFirst = false
    return follow(plan, this.#o)
  }
}

function follow(plan: Plan, { counts, program }: RoundOptions): Running {
  const worker = startProcess(NODE, program)
  worker.send(plan)
  worker.process.stdin?.end()
  counts.processes++
  let isHung = false
  const hang = setTimeout(() => {
    isHung = true
    worker.process.kill("SIGKILL")
  }, HANG_MS)
  const ended = worker.ended.then(() => {
    clearTimeout(hang)
    const { exitCode, signalCode } = worker.process
    if (isHung) throw new Error(`${JSON.stringify(plan)} hangs`)
    if (signalCode === "SIGKILL") counts.killed++
    else if (exitCode !== 0)
      throw new Error(
        `${JSON.stringify(plan)} ended with ${exitCode ?? signalCode}: ${worker.complaints().slice(0, 2_000)}`,
      )
  })
  const paused = worker.said.next().then(async ({ done }) => {
    if (done === true) return false
    while (stateOf(worker.process.pid ?? 0) !== "T") await new Promise((resolve) => void setTimeout(resolve, 5))
    counts.stopped++
    return true
  })
  // It is awaited later.
  ended.catch(() => undefined)
  return {
    plan,
    ended,
    paused: paused.then(async (isPaused) => {
      if (!isPaused) await ended
      return isPaused
    }),
    go: () => void worker.process.kill("SIGCONT"),
  }
}

/** One letter; `T` for a process that is stopped. */
function stateOf(pid: number): string | undefined {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8")
  return stat.slice(stat.lastIndexOf(")") + 2).at(0)
}
