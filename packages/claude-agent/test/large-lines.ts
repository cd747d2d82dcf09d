/** Lines and batches that are larger than the storage takes, and lists that are longer than a page. */
import { describe, expect, test } from "vitest"
import { message, tag, uuid } from "./lines.ts"
import { processesOn } from "./processes.ts"
import type { Storages } from "./storages.ts"

export function largeLinesTests(storages: Storages): void {
  describe.each(Object.entries(storages))("on %s", (_, makePlace) => {
    const { place, openWith, open, keys } = processesOn(makePlace)

    test("a batch that is larger than the storage's is written in several, with every line once", async () => {
      const { main } = keys()
      const { store, sessions } = openWith()
      const { maxBatchBytes } = sessions.storage.capabilities
      const count = Math.ceil((2.5 * maxBatchBytes) / 400_000)
      const lines = Array.from({ length: count }, (_, n) => [message(n + 1, "x".repeat(400_000)), tag(`${n}`)]).flat()
      await store.append(main, lines)
      expect(same(await open().load(main), lines)).toBe(true)
    })

    test("a result of megabytes, lone surrogates and a line of many long texts come back deep-equal", async () => {
      const { main } = keys()
      const { store, sessions } = openWith()
      const { maxLineBytes } = sessions.storage.capabilities
      const many = Array.from({ length: Math.ceil(maxLineBytes / 400_000) + 1 }, (_, n) => `${n}`.padEnd(400_000, "y"))
      const lines = [
        message(1, "a".repeat(place().largeText)),
        message(2, "lone \ud800 surrogate \udc00"),
        message(3, `\ud800${"b".repeat(place().largeText)}`),
        {
          ...message(4),
          toolUseResult: { many },
          "blob:sha256:": `blob:sha256:${"0".repeat(64)}`,
          blobs: { "/a": "utf8" },
        },
      ]
      for (const line of lines) await store.append(main, [line])
      await store.append(main, lines)
      expect(same(await open().load(main), lines)).toBe(true)
    })

    test("a list has more sessions than a page", async () => {
      const { main, projectKey } = keys()
      const store = open()
      const ids = Array.from({ length: 205 }, (_, n) => uuid(n))
      for (const sessionId of ids) await store.append({ ...main, sessionId }, [tag("a")])
      const listed = await store.listSessions(projectKey)
      expect(listed.map(({ sessionId }) => sessionId).sort()).toEqual(ids)
    })
  })
}

/** Vitest's comparison takes seconds for texts of megabytes. */
function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
