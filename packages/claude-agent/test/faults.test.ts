/** Storages that fail: each acknowledged line is in the log once, whatever fails and however often the SDK repeats its call. */
import { createSessions } from "@sessions/core"
import { type SessionStorage, StorageError } from "@sessions/core/storage"
import { createClaudeStore, type ClaudeStore, type SessionStoreEntry } from "@sessions/claude-agent"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { describe, expect, test } from "vitest"
import { createDice } from "../../core/test/dice.ts"
import { MAIN, message, messages, tag, uuid } from "./lines.ts"

/** What becomes of an append: `proceed` carries it out. */
type Fault = (proceed: () => Promise<unknown>) => Promise<unknown>

function failing(storage: SessionStorage, next: () => Fault | undefined): SessionStorage {
  const append: SessionStorage["append"] = (...args) => {
    const proceed = () => storage.append(...args)
    return (next()?.(proceed) ?? proceed()) as ReturnType<SessionStorage["append"]>
  }
  return new Proxy(storage, { get: (target, name) => (name === "append" ? append : Reflect.get(target, name)) })
}

const unavailable: Fault = () => Promise.reject(new StorageError("unavailable", "injected"))
const unknown = (): StorageError => new StorageError("indeterminate", "injected")
const requestLost: Fault = () => Promise.reject(unknown())
const answerLost: Fault = async (proceed) => {
  await proceed()
  throw unknown()
}
/** The request arrives once the caller has given up. */
const late: Fault = (proceed) => {
  setImmediate(() => void proceed().catch(() => undefined))
  return Promise.reject(unknown())
}

function open(location = createMemoryLocation(), next: () => Fault | undefined = () => undefined): ClaudeStore {
  return createClaudeStore({ sessions: createSessions({ storage: failing(createMemoryStorage({ location }), next) }) })
}

/** As the SDK: the same call up to three times. */
async function repeated(store: ClaudeStore, lines: SessionStoreEntry[]): Promise<boolean> {
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      await store.append(MAIN, lines)
      return true
    } catch (error) {
      if (!["unavailable", "indeterminate"].includes((error as { code?: string }).code ?? "")) throw error
    }
  }
  return false
}

describe.each(Object.entries({ unavailable, requestLost, answerLost, late }))(
  "one append that fails: %s",
  (_, fault) => {
    test.each([1, 2, 3])("every line is there once after a repeated call (failure at write %i)", async (at) => {
      const location = createMemoryLocation()
      let writes = 0
      const store = open(location, () => (++writes === at ? fault : undefined))
      const batches = [messages(1, 3), messages(4, 6), messages(7, 9)]
      for (const lines of batches) expect(await repeated(store, lines)).toBe(true)
      expect(await store.load(MAIN)).toEqual(messages(1, 9))
      expect(await open(location).load(MAIN)).toEqual(messages(1, 9))
    })
  },
)

test("if the answer to an append was lost, the call finds it out and does not write a line without a uuid twice", async () => {
  let writes = 0
  const store = open(undefined, () => (++writes === 2 ? answerLost : undefined))
  await store.append(MAIN, [tag("a")])
  await store.append(MAIN, [tag("b"), message(1)])
  expect(await store.load(MAIN)).toEqual([tag("a"), tag("b"), message(1)])
})

test("a call that lands after the SDK's timeout, and the calls behind it, write every line once", async () => {
  let release = (): void => undefined
  const isReleased = new Promise<void>((resolve) => {
    release = resolve
  })
  let writes = 0
  const store = open(undefined, () => {
    if (++writes !== 2) return undefined
    return async (proceed) => {
      await isReleased
      return proceed()
    }
  })
  await store.append(MAIN, messages(1, 1))
  const timedOut = store.append(MAIN, messages(2, 3))
  const repeat = store.append(MAIN, messages(2, 4))
  release()
  await Promise.all([timedOut, repeat])
  expect(await store.load(MAIN)).toEqual(messages(1, 4))
})

test("a transcript of which a blob is missing is not loaded in part", async () => {
  const location = createMemoryLocation()
  const store = open(location)
  await store.append(MAIN, [message(1, "x".repeat(600_000))])
  location.blobs.clear()
  await expect(open(location).load(MAIN)).rejects.toMatchObject({ code: "corrupt" })
})

test("lines that are no objects are refused, and the transcript is loaded as before", async () => {
  const store = open()
  await store.append(MAIN, messages(1, 1))
  const asText = { ...message(2), toJSON: () => "text" }
  const hole: unknown[] = []
  hole[1] = message(2)
  const others = [["text"], [null], [[message(2)]], [message(2), 5], [new Date(0)], [new Map()], [asText], hole]
  for (const lines of [...others, "text", undefined])
    await expect(store.append(MAIN, lines as never)).rejects.toMatchObject({ code: "invalid" })
  expect(await store.load(MAIN)).toEqual(messages(1, 1))
})

test("a line that is nested deeper than the stack is written once", async () => {
  const store = open()
  const line: Record<string, unknown> = {}
  for (let at = line, depth = 0; depth < 20_000; depth++) at = at["in"] = {}
  await store.append(MAIN, [{ type: "deep", line }])
  expect(JSON.stringify(await store.load(MAIN))).toBe(JSON.stringify([{ type: "deep", line }]))
})

test("keys that are none are refused, and calls after close", async () => {
  const store = open()
  await expect(store.append({ ...MAIN, subpath: "" }, messages(1, 1))).rejects.toMatchObject({ code: "invalid" })
  await expect(store.load({ sessionId: "a" } as never)).rejects.toMatchObject({ code: "invalid" })
  await expect(store.listSubkeys(undefined as never)).rejects.toMatchObject({ code: "invalid" })
  await store.close()
  await expect(store.append(MAIN, messages(1, 1))).rejects.toMatchObject({ code: "closed" })
})

const SEED = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31))
const RUNS = Number(process.env["FC_RUNS"] ?? 10)

test(`two processes over a storage that fails at random lose and double nothing (SEED=${SEED})`, async () => {
  for (let run = 0; run < RUNS; run++) {
    const dice = createDice(SEED + run)
    const location = createMemoryLocation()
    const faults = [unavailable, requestLost, answerLost, late]
    const next = (): Fault | undefined => (dice.below(3) === 0 ? dice.pick(faults) : undefined)
    const stored: SessionStoreEntry[][] = [[], []]
    await Promise.all(
      stored.map(async (own, writer) => {
        const store = open(location, next)
        for (let n = 0; n < 12; n++) {
          const lines = Array.from({ length: 1 + dice.below(4) }, (_, i) => message(1, `${n}.${i}`)).map((line, i) => ({
            ...line,
            uuid: uuid(1000 * (writer + 1) + 10 * n + i),
          }))
          const all = [...lines, { ...message(1), uuid: uuid(n) }]
          // The SDK drops what has failed three times; what it drops may have been written.
          if (await repeated(store, all)) own.push(...all)
        }
      }),
    )
    // Late requests arrive before the log is read.
    await new Promise((resolve) => setImmediate(resolve))
    const lines = (await open(location).load(MAIN)) ?? []
    const uuids = lines.map((line) => line.uuid)
    const about = `SEED=${SEED + run}`
    expect(new Set(uuids).size, about).toBe(uuids.length)
    for (const [writer, own] of stored.entries()) {
      expect(uuids, about).toEqual(expect.arrayContaining(own.map((line) => line.uuid)))
      const mine = (line: SessionStoreEntry) =>
        Number(line.uuid?.slice(-6)) >= 1000 * (writer + 1) && Number(line.uuid?.slice(-6)) < 1000 * (writer + 2)
      const acknowledged = new Set(own.map((line) => line.uuid))
      expect(
        lines.filter((line) => mine(line) && acknowledged.has(line.uuid)),
        about,
      ).toEqual(own.filter(mine))
    }
  }
})
