/**
 * Two writers go on with a session whose store is put back to an older state at any moment. No line may be behind one that its writer has
 * not seen, and a session names every entry that it had acknowledged and that is gone.
 */
import assert from "node:assert/strict"
import type { SessionError } from "../src/format/errors.ts"
import type { NewEntry } from "../src/format/new-entry.ts"
import { createSessions } from "../src/session/repository.ts"
import type { Session } from "../src/session/types.ts"
import type { SessionStorage } from "../src/storage/contract.ts"
import { createDice, type Dice } from "./dice.ts"
import { seed } from "./property.ts"
import { sessionTree } from "@sessions/core/transfer"

/** A store with the session `s` alone. */
export interface Restorable {
  /** Opens another storage object on it. */
  open(): SessionStorage
  /** Returns a function that puts the present state back. */
  backup(): Promise<() => Promise<void> | void>
}

const POLICIES = ["fail", "branch", "retry-turn", "rebase"] as const

/** Returns the rounds that hold. Throws with the seed of the round that has found a defect; `SEED=… ` begins with it. */
export async function checkRestores(
  makeStore: () => Restorable | Promise<Restorable>,
  rounds: number,
): Promise<number> {
  console.info(`SEED=${seed}`)
  for (let round = 0; round < rounds; round++) {
    try {
      await new Round(await makeStore(), createDice(seed + round)).run()
    } catch (cause) {
      throw new Error(`Round with SEED=${seed + round}: ${String(cause)}`, { cause })
    }
  }
  return rounds
}

interface Writer {
  readonly storage: SessionStorage
  readonly session: Session
  readonly acknowledged: Set<string>
  readonly named: Set<string>
}

class Round {
  readonly #store: Restorable
  readonly #dice: Dice
  /** How often a state was put back. */
  #restores = 0
  #entries = 0

  constructor(store: Restorable, dice: Dice) {
    this.#store = store
    this.#dice = dice
  }

  async run(): Promise<void> {
    const dice = this.#dice
    const observer = this.#store.open()
    const first = this.#watched(observer)
    const created = await createSessions({ storage: first }).create({ id: "s" })
    await created.append(this.#entry())
    const writers = [await this.#writer(first, created), await this.#writer(this.#watched(observer))] as const
    let restore = await this.#store.backup()
    for (let step = 0; step < 12; step++) {
      const writer = dice.pick(writers)
      const running: Promise<unknown>[] = []
      for (let call = dice.below(3); call >= 0; call--)
        running.push(this.#call(dice.chance(0.8) ? writer : dice.pick(writers)))
      if (dice.chance(0.5)) await Promise.all(running.splice(0))
      if (dice.chance(0.3)) {
        this.#restores++
        await restore()
        this.#restores++
      }
      await Promise.all(running)
      if (dice.chance(0.2)) restore = await this.#store.backup()
    }
    for (const writer of writers) await this.#settle(writer)
    const stored = await idsIn(observer)
    for (const { session, acknowledged, named } of writers) {
      const unnamed = [...acknowledged].filter((id) => !stored.has(id) && !named.has(id))
      assert.deepEqual(unnamed, [])
      assert.deepEqual(new Set((await sessionTree(session)).roots.flatMap(idsOf)), stored)
    }
    await Promise.all([first, writers[1].storage, observer].map((storage) => storage[Symbol.asyncDispose]()))
  }

  async #writer(storage: SessionStorage, session?: Session): Promise<Writer> {
    const opened = session ?? (await createSessions({ storage }).open("s"))
    return { storage, session: opened, acknowledged: new Set(), named: new Set() }
  }

  #entry(): NewEntry {
    const id = `e${this.#entries++}`
    return { type: "message", id, message: { role: "user", content: `text of ${id}` } }
  }

  /** An append or a refresh. */
  async #call(writer: Writer): Promise<void> {
    const dice = this.#dice
    if (dice.chance(0.2)) return void (await this.#told(writer, () => writer.session.refresh()))
    const entries = Array.from({ length: 1 + dice.below(2) }, () => this.#entry())
    const onConflict = dice.pick(POLICIES)
    await this.#told(writer, async () => {
      const { ids } = await writer.session.append(entries, { onConflict })
      for (const id of ids) writer.acknowledged.add(id)
    })
  }

  /** Returns whether the call was refused because of what is gone, and takes down what the error names. */
  async #told({ acknowledged, named }: Writer, call: () => Promise<unknown>): Promise<boolean> {
    try {
      await call()
      return false
    } catch (error) {
      const { code, lost } = error as SessionError
      assert.equal(code, "conflict", String(error))
      for (const { id } of lost ?? []) {
        assert.ok(acknowledged.has(id), `${id} was not acknowledged`)
        named.add(id)
      }
      return lost !== undefined
    }
  }

  /** After one refresh that says what is gone, the session has the log as it is. */
  async #settle(writer: Writer): Promise<void> {
    await this.#told(writer, () => writer.session.refresh())
    await writer.session.refresh()
  }

  /** A storage that looks, after each append, whether its user has seen the line before. */
  #watched(observer: SessionStorage): SessionStorage {
    const storage = this.#store.open()
    const seen = new Set<string>()
    const isRestored = (at: number): boolean => at !== this.#restores || at % 2 === 1
    return {
      ...storage,
      append: async (id, lines, o) => {
        const at = this.#restores
        const head = await storage.append(id, lines, o)
        for (const line of lines) seen.add(line)
        const from = o.expect === 0 ? 0 : o.expect.next
        const before = from === 0 || isRestored(at) ? [] : await linesIn(observer, from - 1, from)
        if (!isRestored(at) && !before.every((line) => seen.has(line)))
          throw new Error(`A line was written behind one that its writer has not seen: ${before.join()}`)
        return head
      },
      async *read(...args) {
        for await (const chunk of storage.read(...args)) {
          for (const line of chunk.lines) seen.add(line)
          yield chunk
        }
      },
      [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
    }
  }
}

interface Node {
  readonly entry: { readonly id: string }
  readonly children: readonly Node[]
}

function idsOf({ entry, children }: Node): string[] {
  return [entry.id, ...children.flatMap(idsOf)]
}

async function linesIn(storage: SessionStorage, from?: number, to?: number): Promise<string[]> {
  const lines: string[] = []
  const range = from === undefined || to === undefined ? {} : { from, to }
  for await (const chunk of storage.read("s", range)) lines.push(...chunk.lines)
  return lines
}

async function idsIn(storage: SessionStorage): Promise<Set<string>> {
  return new Set((await linesIn(storage)).slice(1).map((line) => (JSON.parse(line) as { id: string }).id))
}
