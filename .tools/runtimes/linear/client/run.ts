/** One client: calls a storage at random, some calls at the same time, and reports each call and its answer. Runs in processes and pages. */
import { type Chunk, type Head, type SessionStorage, StorageError, toUtf8 } from "@sessions/core/storage"
import { createDice, type Dice } from "../../../../packages/core/test/dice.ts"
import type { Delete, Failed, Put, Read } from "../checker/history.ts"
import type { Answer, Call, Plan, Reports, Stored } from "./plan.ts"

/** Both kinds of keys. The documents of a session go with it. */
function documentKeys({ session, resets }: Plan): readonly string[] {
  return resets ? ["register"] : ["register", `sessions/${session}/register`]
}

export async function runClient(
  storage: SessionStorage,
  plan: Plan,
  reports: Reports,
  now: () => number,
): Promise<void> {
  const random = createDice(plan.seed)
  const { session } = plan
  let calls = 0
  let lines = 0
  /** The last head that was shown, and one before it. */
  let head: Head | 0 = 0
  let older: Head | 0 = 0
  /** The ids of the values that were shown, by version. */
  const values = new Map(
    documentKeys(plan).map((key) => [key, { value: null as string | null, version: null as string | null }]),
  )
  await Promise.all(Array.from({ length: plan.lanes }, runLane))

  async function runLane(): Promise<void> {
    while (calls < plan.operations) await callOnce(calls++)
  }

  function callOnce(n: number): Promise<unknown> {
    const dice = random.next()
    if (plan.resets && random.next() < 0.03) return random.next() < 0.5 ? replace(n) : remove(n)
    if (dice < 0.45) return append(n)
    if (dice < 0.62) return lookAtHead(n)
    if (dice < 0.82) return read(n)
    if (dice < 0.85) return report(n, { kind: "list" }, () => look(listed()))
    return random.next() < 0.5 ? put(n) : get(n, random.pick([...values.keys()]))
  }

  async function append(n: number): Promise<void> {
    const ids = Array.from({ length: 1 + random.below(4) }, () => `${plan.name}.${lines++}`)
    const expect = expectedHead()
    const call: Call = {
      kind: "append",
      lines: ids,
      ...(expect === 0 ? { expect: 0 } : { expect: expect.next, log: expect.log }),
    }
    const signal = random.next() < 0.03 ? abortSoon(random) : undefined
    const answer = await report(n, call, async () => {
      const texts = ids.map((id) => textOf(id, plan.lineBytes))
      const { next, log } = await storage.append(session, texts, { expect, ...(signal && { signal }) })
      see({ next, log })
      return { next, log }
    })
    // Usually the next append needs the head that the other writer left.
    if ("code" in answer && random.next() < 0.7) await lookAtHead(calls++)
  }

  /** A new log with lines for about half of those that the head shows, as when a compaction removes older entries. */
  async function replace(n: number): Promise<void> {
    if (head === 0) return lookAtHead(n)
    const { next: expect, log } = head
    const ids = Array.from({ length: Math.ceil(expect / 2) }, () => `${plan.name}.${lines++}`)
    const texts = ids.map((id) => textOf(id, plan.lineBytes))
    await report(n, { kind: "replace", expect, log, lines: ids }, async () => {
      const made = await storage.replace?.(session, inChunks(texts), { expect: { next: expect, log } })
      see(made as Head)
      return made as Head
    })
  }

  async function remove(n: number): Promise<void> {
    await report(n, { kind: "delete" }, async () => {
      await storage.delete(session)
      return { deleted: true } satisfies Exclude<Delete["answer"], Failed | undefined>
    })
    // Usually the next append creates the session.
    if (random.next() < 0.7) await lookAtHead(calls++)
  }

  async function lookAtHead(n: number): Promise<void> {
    await report(n, { kind: "head" }, () => look(storage.head(session)))
  }

  /** Sometimes a head that is too old, or one that is yet to come. */
  function expectedHead(): Head | 0 {
    const dice = random.next()
    if (dice < 0.08) return older
    if (dice < 0.1 && head !== 0) return { ...head, next: head.next + 1 + random.below(3) }
    return head
  }

  function see(shown: Head | 0): void {
    older = head
    head = shown
  }

  async function look(answering: ReturnType<SessionStorage["head"]>): Promise<Answer> {
    const shown = await answering
    see(shown === undefined ? 0 : { next: shown.next, log: shown.log })
    return shown === undefined ? { next: 0 } : { next: shown.next, log: shown.log, bytes: shown.bytes }
  }

  async function listed(): ReturnType<SessionStorage["head"]> {
    for await (const row of storage.list()) {
      if (row.id !== session) continue
      if (row.error !== undefined) throw row.error
      return row
    }
    return undefined
  }

  /** All lines, those after some line near the end, or a window at the end. */
  async function read(n: number): Promise<void> {
    const from = head === 0 ? 0 : Math.max(0, head.next - random.below(8))
    const range = random.pick([{}, { from }, { maxBytes: 1 + random.below(3 * plan.lineBytes) }])
    const log = head !== 0 && plan.resets && random.next() < 0.5 ? { log: head.log } : {}
    let at: number | undefined
    await report(
      n,
      { kind: "read", ...log },
      async () => {
        const answer = { from: "from" in range ? from : 0, lines: [] as string[] }
        for await (const chunk of storage.read(session, { ...range, ...log })) {
          // A read determines its end at its first step.
          at ??= now()
          if (answer.lines.length === 0 && "maxBytes" in range) answer.from = chunk.from
          if (chunk.from !== answer.from + answer.lines.length)
            throw new StorageError("corrupt", "chunks are not contiguous")
          answer.lines.push(...chunk.lines.map((line) => idOf(line, plan.lineBytes)))
        }
        return answer satisfies Exclude<Read["answer"], Failed | undefined>
      },
      () => at,
    )
  }

  async function put(n: number): Promise<void> {
    const key = random.pick([...values.keys()])
    const { value: expect, version } = values.get(key) ?? { value: null, version: null }
    const value = `${plan.name}.${n}`
    const call: Call = { kind: "put", key, expect, value }
    await report(n, call, async () => {
      values.set(key, { value, version: await storage.docs.put(key, value, { expect: version }) })
      return { put: true } satisfies Exclude<Put["answer"], Failed | undefined>
    })
    // The next put needs what replaced the expected value.
    if (random.next() < 0.5) await get(calls++, key)
  }

  function get(n: number, key: string): Promise<unknown> {
    return report(n, { kind: "get", key }, async () => {
      const doc = await storage.docs.get(key)
      values.set(key, { value: doc?.text ?? null, version: doc?.version ?? null })
      return { value: doc?.text ?? null }
    })
  }

  async function report(
    n: number,
    call: Call,
    work: () => Promise<Answer>,
    answeredAt?: () => number | undefined,
  ): Promise<Answer> {
    await reports.begin(n, call)
    const answer = await work().catch(failedOf)
    await reports.end(n, answer, answeredAt?.() ?? now())
    // A server that starts again needs longer than all calls.
    if ("code" in answer && answer.code === "unavailable") await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    return answer
  }
}

/** The log and the documents as they are now. */
export async function readStored(storage: SessionStorage, plan: Plan): Promise<Stored> {
  const { session, lineBytes } = plan
  const lines: { id: string; bytes: number }[] = []
  for await (const chunk of storage.read(session)) {
    for (const line of chunk.lines) lines.push({ id: idOf(line, lineBytes), bytes: toUtf8(line).length + 1 })
  }
  const head = await storage.head(session)
  const documents: Record<string, string | null> = {}
  for (const key of documentKeys(plan)) documents[key] = (await storage.docs.get(key))?.text ?? null
  return { log: { identity: head?.log ?? "", lines }, documents }
}

const PAUSE_MS = 20

async function* inChunks(lines: readonly string[]): AsyncIterable<Chunk> {
  const middle = Math.floor(lines.length / 2)
  if (middle > 0) yield { from: 0, lines: lines.slice(0, middle) }
  yield { from: middle, lines: lines.slice(middle) }
}

/** The line with the id. Its length follows from the id, and some of its characters have several bytes. */
function textOf(id: string, lineBytes: number): string {
  const n = Number(id.split(".").at(-1))
  const length = (n * 7_919) % Math.max(1, lineBytes - 100)
  return JSON.stringify({ id, pad: n % 5 === 0 ? "ü".repeat(length / 2) : "x".repeat(length) })
}

/** The id of a line; the line itself if it is not exactly the one with this id. */
function idOf(line: string, lineBytes: number): string {
  const [, id] = /^\{"id":"([^"]+)"/.exec(line) ?? []
  return id !== undefined && textOf(id, lineBytes) === line ? id : line
}

function failedOf(error: unknown): Failed {
  const { code, sent, message } = error as { code?: unknown; sent?: boolean; message?: string }
  if (typeof code !== "string") return { code: `no code: ${message ?? String(error)}` }
  return { code, ...(sent === true && { sent }), ...(message !== undefined && { message }) }
}

/** Within the time that an append takes. */
function abortSoon(random: Dice): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(), random.below(3))
  return controller.signal
}
