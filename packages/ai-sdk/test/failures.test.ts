/** What remains after a kill, after lost requests and answers, and when two processes save at once. */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { createFaultyStorage, type Fault } from "@sessions/conformance/faults"
import { createSessions, type Sessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { afterAll, describe, expect, test } from "vitest"
import { createDice } from "../../core/test/dice.ts"
import { type ChatMessage, createChatStore } from "../src/index.ts"
import { afterSteps, question } from "./answers.ts"
import { exitOf, startProgram } from "./processes.ts"
import { kinds, openStorage } from "./storage-of-process.ts"
import { closeDatabase, storages } from "./storages.ts"

/** The contents of all messages in the log, on all branches. */
async function contentsOf(sessions: Sessions): Promise<readonly string[]> {
  const session = await sessions.open("c")
  const contents: string[] = []
  for await (const entry of session.entries())
    if (entry.type === "message") contents.push(JSON.stringify(entry.message))
  await session.close()
  return contents
}

test.each(kinds)(
  "on %s, a run that is killed at any point leaves its steps, and the repeated run writes each once",
  async (kind) => {
    const root = fs.mkdtempSync(join(tmpdir(), "sessions-ai-sdk-"))
    let stored = 0
    let steps = 0
    for (const killAfter of [1, 3, 4, 7, 30]) {
      const child = startProgram(new URL("run-process.ts", import.meta.url), [kind, root, "30"])
      for await (const line of createInterface(child.stdout)) {
        stored = Number(line.slice("stored ".length))
        if (stored === killAfter) child.kill("SIGKILL")
      }
      await exitOf(child)
      const sessions = createSessions({ storage: openStorage(kind, root) })
      const messages = await createChatStore(sessions).loadChat("c")
      steps = (messages[1]?.parts.length ?? 0) / 2
      expect(steps).toBeGreaterThanOrEqual(stored)
      expect(messages).toEqual(afterSteps(steps))
      const contents = await contentsOf(sessions)
      expect([contents.length, new Set(contents).size]).toEqual([1 + 2 * steps, 1 + 2 * steps])
      expect((await sessions.verify("c")).diagnostics).toEqual([])
      await sessions.close()
    }
    expect(steps).toBe(30)
    fs.rmSync(root, { recursive: true })
  },
)

const FAULTS: readonly Fault[] = ["unavailable", "request lost", "response lost", "late", "prefix"]

test.each([1, 2, 3, 4])(
  "lost requests and answers lose and double nothing, if a failed save is repeated (seed %i)",
  async (seed) => {
    const dice = createDice(seed)
    const location = createMemoryLocation()
    let isFailing = true
    const storage = createFaultyStorage(createMemoryStorage({ location }), {
      decide: ({ operation }) =>
        isFailing && operation === "append" && dice.chance(0.4) ? dice.pick(FAULTS) : undefined,
    })
    const store = createChatStore(createSessions({ storage }))
    for (let step = 0; step <= 20; step++) {
      for (let isSaved = false; !isSaved; ) {
        isSaved = await store.saveChat({ chatId: "c", messages: afterSteps(step) }).then(
          () => true,
          () => false,
        )
        if (dice.chance(0.5) && storage.late > 0) await storage.deliver()
      }
    }
    isFailing = false
    while (storage.late > 0) await storage.deliver()
    const sessions = createSessions({ storage: createMemoryStorage({ location }) })
    expect(await createChatStore(sessions).loadChat("c")).toEqual(afterSteps(20))
    const contents = await contentsOf(sessions)
    expect(new Set(contents).size).toBe(contents.length)
  },
)

afterAll(closeDatabase)

describe.each(storages)("on %s", (_, make) => {
  test("two processes that save at once lose no message, and the chat is that of the last save", async () => {
    const place = await make()
    const processes = [createSessions({ storage: place.open() }), createSessions({ storage: place.open() })]
    const saved: ChatMessage[][] = []
    await Promise.all(
      processes.map(async (sessions, number) => {
        const store = createChatStore(sessions)
        await store.saveChat({ chatId: "c", activeStreamId: null })
        for (let n = 0; n < 10; n++) {
          const messages = [...(await store.loadChat("c")), question(`p${number}n${n}`)]
          await store.saveChat({ chatId: "c", messages })
          saved.push(messages)
        }
      }),
    )
    const [one, two] = processes as [Sessions, Sessions]
    const messages = await createChatStore(one).loadChat("c")
    expect(await createChatStore(two).loadChat("c")).toEqual(messages)
    expect(saved).toContainEqual(messages)
    const contents = await contentsOf(one)
    expect(new Set(contents).size).toBe(20)
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    // The branches of the process that was slower are reported, since the chat does not show them.
    const defects = (await one.verify("c")).diagnostics.filter(({ code }) => code !== "diverged")
    expect(defects).toEqual([])
    await one.close()
    if (two.storage !== one.storage) await two.close()
    await place.remove()
  })
})
