/** What the readers of the SDK find in the store is what they find in the SDK's own file, whatever uuids its lines have. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  forkSession,
  getSessionMessages,
  type GetSessionMessagesOptions,
  importSessionToStore,
} from "@anthropic-ai/claude-agent-sdk"
import { type ClaudeStore, createClaudeStore, type SessionStoreEntry } from "@sessions/claude-agent"
import { createSessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import * as fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { message, tag, uuid } from "./lines.ts"

const DIR = "/home/ada/equal"
const PROJECT = "-home-ada-equal"
const { CLAUDE_CONFIG_DIR: before } = process.env
let config = ""
let made = 0

beforeAll(() => {
  config = mkdtempSync(join(tmpdir(), "sessions-claude-config-"))
  process.env["CLAUDE_CONFIG_DIR"] = config
  mkdirSync(join(config, "projects", PROJECT), { recursive: true })
})
afterAll(() => {
  if (before === undefined) delete process.env["CLAUDE_CONFIG_DIR"]
  else process.env["CLAUDE_CONFIG_DIR"] = before
  rmSync(config, { recursive: true })
})

/** A step of a file that is written: a line with a new uuid, or one that has the uuid of an earlier line. */
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom("new", "new", "new", "attachment", "changed", "changed", "older", "tag"),
    of: fc.nat(20),
    parent: fc.nat(20),
  }),
  { minLength: 1, maxLength: 16 },
)

/** Each uuid has an earlier content again at most once: two of them, one after the other, could not be told from a call that is repeated. */
function linesOf(
  given: typeof steps extends fc.Arbitrary<infer T> ? T : never,
  sessionId: string,
): SessionStoreEntry[] {
  const lines = [message(1, "first", sessionId)]
  const byUuid = new Map([[uuid(1), [lines[0] as SessionStoreEntry]]])
  const again = new Set<string>()
  for (const [at, { kind, of, parent }] of given.entries()) {
    const n = at + 2
    const uuids = [...byUuid.keys()]
    const one = uuids[of % uuids.length] as string
    const versions = byUuid.get(one) ?? []
    // Nor the first line, which begins a file that is imported again.
    const older =
      one === uuid(1) || again.has(one) ? undefined : versions.slice(0, -1)[of % Math.max(1, versions.length - 1)]
    const parentUuid = uuids[parent % uuids.length]
    let line: SessionStoreEntry = { ...message(n, `text ${n}`, sessionId), parentUuid }
    if (kind === "tag") line = { ...tag(`tag ${n}`), sessionId }
    if (kind === "attachment") line = { ...line, type: "attachment", message: undefined, content: [`hook ${n}`] }
    if (kind === "changed") line = { ...(versions.at(-1) as SessionStoreEntry), timestamp: line.timestamp as string, n }
    if (kind === "older" && older !== undefined && older !== versions.at(-1)) {
      line = older
      again.add(one)
    }
    lines.push(line)
    if (line.uuid !== undefined) byUuid.set(line.uuid, [...(byUuid.get(line.uuid) ?? []), line])
  }
  return lines
}

/** Sizes of calls; those of a call that is repeated are true. */
const calls = fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.boolean(), fc.boolean()), { minLength: 1 })

test("the SDK reads from the store what it reads from its file, in whatever calls the lines came", async () => {
  await fc.assert(
    fc.asyncProperty(steps, calls, fc.integer({ min: 1, max: 8 }), async (given, sizes, batchSize) => {
      const sessionId = uuid(1_000 + made++)
      const key = { projectKey: PROJECT, sessionId }
      const lines = linesOf(given, sessionId)
      writeFileSync(
        join(config, "projects", PROJECT, `${sessionId}.jsonl`),
        lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
      )
      const location = createMemoryLocation()
      let store = open(location)
      for (let at = 0, n = 0; at < lines.length; n++) {
        const [size, isRepeated, isNewProcess] = sizes[n % sizes.length] as [number, boolean, boolean]
        if (isNewProcess) store = open(location)
        const call = lines.slice(at, at + size)
        await store.append(key, call)
        // As after a timeout, when the first call has reached the storage.
        if (isRepeated)
          await store.append(
            key,
            call.filter(({ uuid }) => uuid !== undefined),
          )
        at += size
      }
      const parsed = JSON.parse(JSON.stringify(lines)) as SessionStoreEntry[]
      expect(await store.load(key)).toEqual(parsed)
      // Again from the file, by this process and by another one.
      const uuids = parsed.filter(({ uuid }) => uuid !== undefined)
      for (const sessionStore of [store, open(location)]) {
        await importSessionToStore(sessionId, sessionStore, { dir: DIR, batchSize })
        expect((await open(location).load(key))?.filter(({ uuid }) => uuid !== undefined)).toEqual(uuids)
      }
      expect(await read(sessionId, open(location))).toEqual(await read(sessionId))
    }),
    { numRuns: runs(20) },
  )
})

async function read(sessionId: string, sessionStore?: ClaudeStore): Promise<unknown> {
  const options: GetSessionMessagesOptions = { dir: DIR, includeSystemMessages: true }
  const here = { ...options, ...(sessionStore !== undefined && { sessionStore }) }
  const fork = await forkSession(sessionId, here)
  const texts = (await getSessionMessages(fork.sessionId, here)).map(({ message }) => message)
  return [await getSessionMessages(sessionId, here), texts]
}

function open(location: MemoryLocation): ClaudeStore {
  return createClaudeStore({ sessions: createSessions({ storage: createMemoryStorage({ location }) }) })
}
