/**
 * One of several processes on a folder: `worker.ts ROOT MAX_PART_BYTES`, in any runtime. Runs the commands on its input, a line each,
 * one after another, and answers each with a line. Ends with its input.
 */
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { createInterface } from "node:readline"
import { createBunStorage } from "@sessions/bun"
import { createSessions } from "@sessions/core"
import type { Chunk, Head, SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { type Answer, type Arguments, type Command, type Commands, type Outcome, toLine } from "./commands.ts"

const [root = "", maxPartBytes = ""] = process.argv.slice(2)
const open = (): SessionStorage => {
  const create = "Bun" in globalThis ? createBunStorage : createFileStorage
  return create({ root, maxPartBytes: Number(maxPartBytes) })
}
const storage = open()

type Handlers = { readonly [C in Command]: (o: Arguments<C>) => Promise<Answer<C>> }

const handlers: Handlers = {
  async append({ session, lines }) {
    const info = await storage.head(session)
    return appendTo(storage, session, lines, info === undefined ? 0 : { next: info.next, log: info.log })
  },
  appendAt: ({ session, lines, expect }) => appendTo(storage, session, lines, expect),
  async read({ session }) {
    const hash = createHash("sha256")
    let lines = 0
    for await (const chunk of storage.read(session)) {
      for (const line of chunk.lines) hash.update(`${line}\n`)
      lines += chunk.lines.length
    }
    return { lines, sha256: hash.digest("hex") }
  },
  replace: ({ session, lines, expect }) =>
    outcomeOf(async () => {
      const head = await storage.replace?.(session, chunked(lines), { expect })
      return head ?? Promise.reject(new Error("A storage on files can replace."))
    }),
  delete: ({ session }) => storage.delete(session),
  async list() {
    const ids: string[] = []
    for await (const { id } of storage.list()) ids.push(id)
    return ids
  },
  async extendDoc({ key, by }) {
    for (;;) {
      const doc = await storage.docs.get(key)
      const text = (doc?.text ?? "") + by
      const put = await outcomeOf(async () => {
        await storage.docs.put(key, text, { expect: doc?.version ?? null })
        return { next: 0, log: "" }
      })
      if ("head" in put) return { text }
      if (put.code !== "conflict") throw new Error(put.code)
    }
  },
  putBlob: async ({ text }) => ({ hash: await storage.blobs.put(new TextEncoder().encode(text)) }),
  async getBlob({ hash }) {
    const bytes = await storage.blobs.get(hash)
    return { text: bytes === undefined ? null : new TextDecoder().decode(bytes) }
  },
  race: ({ session, expect, count, mark }) =>
    Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const racer = open()
        const outcome = await appendTo(racer, session, [JSON.stringify({ mark, index })], expect)
        await racer[Symbol.asyncDispose]()
        return outcome
      }),
    ),
  async fill({ session, name, count = Number.POSITIVE_INFINITY, until = "", inFlight }) {
    const sessions = createSessions({ storage: open() })
    const opened = await sessions.open(session)
    const started = performance.now()
    let [next, longestWaitMs] = [0, 0]
    const lane = async (): Promise<void> => {
      while (next < count && !(next % 100 === 0 && until !== "" && existsSync(until))) {
        const asked = performance.now()
        const message = { role: "user" as const, content: `${name} ${next++}` }
        await opened.append({ type: "message", message }, { onConflict: "branch" })
        longestWaitMs = Math.max(longestWaitMs, performance.now() - asked)
      }
    }
    await Promise.all(Array.from({ length: inFlight }, lane))
    const ms = performance.now() - started
    await sessions.close()
    return { count: next, longestWaitMs, ms }
  },
}

function appendTo(to: SessionStorage, session: string, lines: readonly string[], expect: Head | 0): Promise<Outcome> {
  return outcomeOf(() => to.append(session, lines, { expect }))
}

async function outcomeOf(work: () => Promise<Head>): Promise<Outcome> {
  try {
    return { head: await work() }
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (typeof code !== "string") throw error
    return { code }
  }
}

async function* chunked(lines: readonly string[]): AsyncGenerator<Chunk> {
  yield { from: 0, lines }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { command, o } = JSON.parse(line) as { command: keyof Commands; o: never }
  process.stdout.write(toLine(await handlers[command](o)))
}
await storage[Symbol.asyncDispose]()
