/**
 * Histories of sessions in two storages, which are branched, edited, compacted, forked, merged, copied, exported and imported, while calls
 * are started in them. An oracle beside the logs knows which calls have truly started in each of them; what every log says is compared with it.
 */
import { type ContentBlock, createSessions, type Entry, hasCode, type Session, type Sessions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { callStates } from "@sessions/core/context"
import { copySession, exportSession, forkSession, importSession, mergeSession } from "@sessions/core/transfer"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { createToolCalls, type ToolCalls } from "@sessions/tool-calls"
import { createDice, type Dice } from "../../core/test/dice.ts"
import { call, question, TOOLS } from "./world.ts"

interface Replica {
  readonly place: MemoryLocation
  readonly id: string
  /** The calls that have started in this log, or before it was made of another one, by the names in their arguments: ids of calls are given again, as by local models. */
  readonly started: Set<string>
}

const STEPS = [
  "ask ask ask run run run run resume",
  "answer goOn branch branch remove edit compact compact",
  "fork copy merge merge import",
].flatMap((steps) => steps.split(" "))

/** Reads the end of a log alone, as of long logs. */
const SMALL = { first: 300, largest: 300 }
const summarize = async () => ({ text: "## Goal\nA summary." })

export interface Laws {
  /** What an oracle would miss that sees the started calls of one replica alone. */
  readonly wrong: readonly string[]
  /** How often each state was seen, so that a test knows what it has looked at. */
  readonly seen: Readonly<Record<string, number>>
}

export async function replicaHistory(seed: number, length: number): Promise<Laws> {
  const world = new World(createDice(seed))
  await world.make()
  for (let n = 0; n < length && world.wrong.length === 0; n++) await world.step()
  return world
}

class World implements Laws {
  readonly wrong: string[] = []
  readonly seen: Record<string, number> = {}
  readonly #dice: Dice
  readonly #places = [createMemoryLocation(), createMemoryLocation()] as const
  readonly #replicas: Replica[] = []
  #names = 0

  constructor(dice: Dice) {
    this.#dice = dice
  }

  async make(): Promise<void> {
    const [place] = this.#places
    const replica = { place, id: "s", started: new Set<string>() }
    this.#replicas.push(replica)
    const session = await sessionsIn(place).create({ id: "s" })
    await session.close()
    await this.#ask(replica)
  }

  async step(): Promise<void> {
    const dice = this.#dice
    const replica = dice.pick(this.#replicas)
    const step = dice.pick(STEPS)
    try {
      await this.#take(step, replica)
    } catch (error) {
      // Refused as it should be: the session is too short for a summary, or the calls are those of an earlier message.
      if (!["compaction_failed", "conflict", "invalid"].some((code) => hasCode(error, code as "conflict"))) throw error
    }
    // Those that the step may have changed.
    for (const one of this.#replicas)
      if (one.id === replica.id || one === this.#replicas.at(-1)) await this.#check(one, step)
  }

  async #take(step: string, replica: Replica): Promise<void> {
    const { place, id, started } = replica
    const [here, there] = this.#places
    const other = place === here ? there : here
    if (step === "ask") return this.#ask(replica)
    if (step === "fork") {
      if (this.#replicas.length > 5) return
      const [at, fork] = [
        this.#dice.chance(0.5) ? this.#dice.pick(await messagesIn(place, id)) : undefined,
        this.#newId("f"),
      ]
      const session = await forkSession(sessionsIn(place), id, { id: fork, ...(at === undefined ? {} : { at }) })
      await session.close()
      this.#replicas.push({ place, id: fork, started: new Set(started) })
      return
    }
    const twin = this.#replicas.find((one) => one.place === other && one.id === id)
    if (step === "merge" || step === "copy") {
      if (step === "copy" && twin !== undefined) return
      const call = step === "copy" ? copySession : mergeSession
      await call(sessionsIn(place), id, createMemoryStorage({ location: other }))
      const both = [...started, ...(twin?.started ?? [])]
      for (const call of both) started.add(call)
      if (twin === undefined) this.#replicas.push({ place: other, id, started: new Set(both) })
      else for (const call of both) twin.started.add(call)
      return
    }
    if (step === "import") {
      if (this.#replicas.length > 5) return
      const made = this.#newId("i")
      await importSession(sessionsIn(other), await exported(place, id), { id: made, from: "sessions" })
      this.#replicas.push({ place: other, id: made, started: new Set(started) })
      return
    }
    await withSession(place, id, (session) => this.#write(step, replica, session))
  }

  async #write(step: string, { place, id, started }: Replica, session: Session): Promise<void> {
    const dice = this.#dice
    const calls = createToolCalls(session, {
      tools: TOOLS,
      onUnknown: () => (dice.chance(0.5) ? "not done" : undefined),
    })
    const target = dice.pick(await messagesIn(place, id))
    switch (step) {
      case "run":
        return this.#run(session, calls, { place, id, started })
      case "resume": {
        const execute = ({ arguments: { id: call } }: { arguments: Readonly<Record<string, unknown>> }) =>
          void started.add(String(call))
        await calls.resume({ charge: execute, look: () => "seen" })
        return
      }
      case "answer": {
        // By a program that knows nothing of this package.
        const open = (await session.callStates())?.calls.find(({ state }) => state !== "done")
        if (open === undefined) return
        const result = {
          role: "toolResult",
          toolCallId: open.callId,
          toolName: open.toolName,
          content: "by hand",
        } as const
        return void (await session.append({ type: "message", message: result }))
      }
      case "goOn":
        return void (await session.append(question("And now?")))
      case "branch":
        return void (await session.branch(target))
      case "remove":
        return void (await session.tombstone(target))
      case "edit":
        return void (await session.edit(target, null))
      default:
        return void (await compact(session, { keepRecentTokens: dice.below(60) + 1, summarize }))
    }
  }

  async #ask({ place, id }: Replica): Promise<void> {
    const dice = this.#dice
    await withSession(place, id, async (session) => {
      const { record } = createToolCalls(session, { tools: TOOLS })
      await session.append([question("Pay. ".repeat(dice.below(30))), ...(dice.chance(0.8) ? [record] : [])])
      const reuses = dice.chance(0.4)
      const content = Array.from({ length: 1 + dice.below(3) }, (_, n) => {
        const name = this.#newId("c")
        return call(reuses ? `call_${n}` : name, dice.pick(["charge", "charge", "look", "other"]), { id: name })
      })
      await session.append({ type: "message", message: { role: "assistant", content } })
    })
  }

  /** Some of the processes are killed while the call runs; some results are late. */
  async #run(session: Session, calls: ToolCalls, replica: Replica): Promise<void> {
    const open = (await session.callStates())?.calls.filter(({ state }) => state !== "done") ?? []
    if (open.length === 0) return
    const state = this.#dice.pick(open)
    const crash = new AbortController()
    const name = String(state.arguments["id"])
    const execute = async (): Promise<string> => {
      if (state.toolName === "charge") replica.started.add(name)
      if (this.#dice.chance(0.3)) await this.#ask(replica)
      if (this.#dice.chance(0.5)) return `done ${name}`
      crash.abort(new Error("crash"))
      throw crash.signal.reason
    }
    await calls.run(state, execute, { signal: crash.signal }).catch((error: unknown) => {
      if (error !== crash.signal.reason) throw error
    })
  }

  /** Compares what a log says at each of its entries with the oracle, and what its end says with its whole. */
  async #check({ place, id, started }: Replica, step: string): Promise<void> {
    const slots: (Entry | undefined)[] = [undefined]
    const answered = new Set<unknown>()
    await withSession(place, id, async (session) => {
      for await (const entry of session.entries()) {
        slots[entry.seq] = entry
        const { message } = entry as { readonly message?: { readonly toolCallId?: unknown } }
        if (message?.toolCallId !== undefined) answered.add(message.toolCallId)
      }
    })
    const say = (what: string): void => void this.wrong.push(`after ${step}, ${id}: ${what}`)
    for (const slot of slots) {
      if (slot === undefined) continue
      for (const { callId, arguments: args, state, result } of callStates(slots, slot.id)?.calls ?? []) {
        const name = String(args["id"])
        this.seen[state] = (this.seen[state] ?? 0) + 1
        if (started.has(name) && state !== "unknown" && state !== "done") say(`${name} has started, and is ${state}`)
        if (!started.has(name) && state === "unknown" && !answered.has(callId))
          say(`${name} has not started, and is unknown`)
        const given = JSON.stringify(slots.find((one) => one?.id === result)?.["message"] ?? "")
        if (isOfOther(given, name)) say(`${name} has the result ${given}`)
      }
    }
    await withSession(place, id, async (session) => {
      const found = JSON.stringify(await session.callStates())
      const whole = JSON.stringify(callStates(slots, session.leafId))
      if (found !== whole) say(`its end says ${found}, its whole ${whole}`)
      /** The names of the calls of the last answer, by their ids. */
      let names = new Map<string, string>()
      for (const { message } of (await session.context()).messages) {
        if (message.role === "assistant") names = namesOf(message.content)
        if (message.role !== "toolResult") continue
        const text = JSON.stringify(message.content)
        const name = names.get(message.toolCallId) ?? ""
        if (text.includes("may be called again") && started.has(name))
          say(`the model is told ${text} of ${name}, which has started`)
        if (isOfOther(text, name)) say(`the model is told ${text} of ${name}`)
      }
    })
  }

  #newId(letter: string): string {
    return `${letter}${this.#names++}`
  }
}

/** Whether a text is what another call than the one of this name has returned. */
function isOfOther(text: string, name: string): boolean {
  const [, done] = /done (\w+)/.exec(text) ?? []
  return done !== undefined && done !== name
}

function namesOf(content: readonly ContentBlock[]): Map<string, string> {
  const calls = content.flatMap((block) => (block.type === "toolCall" ? [block] : []))
  return new Map(calls.map(({ id, arguments: args }) => [id, String(args["id"])]))
}

function sessionsIn(location: MemoryLocation): Sessions {
  return createSessions({ storage: createMemoryStorage({ location }), readWindow: SMALL })
}

async function withSession<T>(place: MemoryLocation, id: string, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await sessionsIn(place).open(id)
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}

async function messagesIn(place: MemoryLocation, id: string): Promise<readonly string[]> {
  const ids: string[] = []
  await withSession(place, id, async (session) => {
    for await (const { id: entry, type } of session.entries()) if (type === "message") ids.push(entry)
  })
  return ids
}

async function exported(place: MemoryLocation, id: string): Promise<string> {
  let text = ""
  for await (const piece of exportSession(sessionsIn(place), id)) text += piece
  return text
}
