/** The rules of the SDK's session store, and what this one adds. */
import type { SessionStoreEntry } from "@sessions/claude-agent"
import { describe, expect, test } from "vitest"
import { message, messages, tag, uuid } from "./lines.ts"
import { processesOn } from "./processes.ts"
import type { Storages } from "./storages.ts"

export function storeTests(storages: Storages): void {
  describe.each(Object.entries(storages))("on %s", (_, makePlace) => {
    const { openWith, open, keys } = processesOn(makePlace)

    test("lines come back deep-equal, in the order of the appends, also in another process", async () => {
      const { main } = keys()
      const store = open()
      await store.append(main, messages(1, 3))
      await store.append(main, messages(4, 4))
      expect(await store.load(main)).toEqual(messages(1, 4))
      expect(await open().load(main)).toEqual(messages(1, 4))
    })

    test("load of a key that was never written is null", async () => {
      const { main, agent } = keys()
      const store = open()
      expect(await store.load(main)).toBeNull()
      await store.append(main, messages(1, 1))
      expect(await store.load(agent)).toBeNull()
      expect(await store.load({ ...main, sessionId: "22222222-2222-4222-8222-222222222222" })).toBeNull()
    })

    test("an append of no lines writes nothing", async () => {
      const { main, projectKey } = keys()
      const store = open()
      await store.append(main, [])
      expect(await store.load(main)).toBeNull()
      expect(await store.listSessions(projectKey)).toEqual([])
    })

    test("transcripts of a session, sessions and projects are apart, also with the same uuid", async () => {
      const { main, agent } = keys()
      const other = { ...main, projectKey: keys().projectKey }
      const store = open()
      await store.append(main, [message(1, "main")])
      await store.append(agent, [message(1, "agent")])
      await store.append(other, [message(1, "other")])
      expect(await store.load(main)).toEqual([message(1, "main")])
      expect(await store.load(agent)).toEqual([message(1, "agent")])
      expect(await store.load(other)).toEqual([message(1, "other")])
    })

    test("a session is listed once, with whole milliseconds that grow with its appends, and without its subagents", async () => {
      const { main, agent, projectKey } = keys()
      const store = open()
      await store.append(main, messages(1, 1))
      await store.append(agent, messages(1, 1))
      const [first, ...more] = await store.listSessions(projectKey)
      expect(more).toEqual([])
      expect(first?.sessionId).toBe(main.sessionId)
      expect(Number.isInteger(first?.mtime)).toBe(true)
      await store.append(main, messages(2, 2))
      const [second] = await store.listSessions(projectKey)
      expect(second?.mtime).toBeGreaterThanOrEqual(first?.mtime ?? Number.NaN)
    })

    test("listSubkeys names the subpaths of a session, whatever their characters", async () => {
      const { main } = keys()
      const subpaths = ["subagents/agent-a1", "subagents/deep/agent-ü", "x".repeat(300)]
      const store = open()
      await store.append(main, messages(1, 1))
      await store.append({ ...main, sessionId: uuid(9), subpath: "subagents/other" }, messages(1, 1))
      for (const subpath of subpaths) await store.append({ ...main, subpath }, messages(1, 1))
      expect(await open().listSubkeys(main)).toEqual([...subpaths].sort())
      expect(await store.listSubkeys({ ...main, sessionId: uuid(8) })).toEqual([])
    })

    test("delete of a main transcript deletes its subagents and nothing else", async () => {
      const { main, agent, projectKey } = keys()
      const other = { ...main, sessionId: uuid(7) }
      const store = open()
      for (const key of [main, agent, other]) await store.append(key, messages(1, 1))
      await store.delete(main)
      expect([await store.load(main), await store.load(agent)]).toEqual([null, null])
      expect(await store.listSubkeys(main)).toEqual([])
      expect((await store.listSessions(projectKey)).map(({ sessionId }) => sessionId)).toEqual([other.sessionId])
      await store.delete(main)
    })

    test("delete of a subagent leaves the others", async () => {
      const { main, agent } = keys()
      const second = { ...main, subpath: "subagents/agent-b2" }
      const store = open()
      for (const key of [main, agent, second]) await store.append(key, messages(1, 1))
      await store.delete(agent)
      expect(await store.load(agent)).toBeNull()
      expect(await store.load(main)).toEqual(messages(1, 1))
      expect(await store.listSubkeys(main)).toEqual([second.subpath])
    })

    test("an append after a delete begins a new transcript, also if another process has deleted it", async () => {
      const { main } = keys()
      const store = open()
      await store.append(main, messages(1, 2))
      await store.delete(main)
      await store.append(main, messages(2, 2))
      expect(await store.load(main)).toEqual(messages(2, 2))
      await open().delete(main)
      await store.append(main, messages(3, 3))
      expect(await store.load(main)).toEqual(messages(3, 3))
    })

    test("a line is written once: in a repeated call, in one that goes on, and in another process", async () => {
      const { main } = keys()
      const store = open()
      await store.append(main, messages(1, 2))
      await store.append(main, messages(1, 3))
      await open().append(main, messages(2, 4))
      await store.append(main, messages(1, 4))
      expect(await store.load(main)).toEqual(messages(1, 4))
    })

    test("lines with one uuid and other contents are all kept, in their order", async () => {
      const { main } = keys()
      const store = open()
      const lines = [message(1), message(2, "a"), message(1, "b"), message(2, "c"), message(2, "a")]
      await store.append(main, lines)
      for (const repeated of [lines, lines.slice(0, 3), lines.slice(2), [message(2, "a")]]) {
        await store.append(main, repeated)
        await open().append(main, repeated)
        expect(await open().load(main)).toEqual(lines)
      }
      const more = [message(3), message(2, "d"), message(1), message(3, "e")]
      await open().append(main, [...lines, ...more.slice(0, 2)])
      await store.append(main, more)
      expect(await store.load(main)).toEqual([...lines, ...more])
    })

    test("an earlier content that is written again counts, and a file that is imported again changes nothing", async () => {
      const { main } = keys()
      const store = open()
      const file = [message(1), message(2, "a"), message(3), message(2, "b"), message(2, "a"), message(4)]
      for (const line of file) await store.append(main, [line])
      expect(await store.load(main)).toEqual(file)
      for (const size of [1, 2, 3, 6]) {
        for (const again of [store, open()])
          for (let at = 0; at < file.length; at += size) await again.append(main, file.slice(at, at + size))
        expect(await open().load(main)).toEqual(file)
      }
      // Of a batch that the SDK has dropped, the import adds the lines that are missing.
      const { main: other } = keys()
      await store.append(other, [...file.slice(0, 2), ...file.slice(3)])
      for (const line of file) await store.append(other, [line])
      expect(await store.load(other)).toEqual([...file.slice(0, 2), ...file.slice(3), message(3)])
    })

    test("two processes that write one uuid at once with other contents keep both", async () => {
      const { main } = keys()
      const [one, two] = [open(), open()]
      for (let n = 1; n <= 5; n++) {
        await Promise.all([
          one.append(main, [message(n, "same"), message(n, "one")]),
          two.append(main, [message(n, "same"), message(n, "two")]),
        ])
      }
      const lines = (await open().load(main)) ?? []
      expect(await one.load(main)).toEqual(lines)
      for (let n = 1; n <= 5; n++) {
        for (const text of ["one", "two"]) expect(lines).toContainEqual(message(n, text))
      }
    })

    test("a uuid may look like the id of another line's entry", async () => {
      const { main } = keys()
      const { store, sessions } = openWith()
      const idOf = (line: SessionStoreEntry, uuid: string): SessionStoreEntry => ({ ...line, uuid })
      const lines = [message(1), message(1, "b")]
      await store.append(main, lines)
      const [{ id } = { id: "" }] = (await sessions.list({ metadata: { projectKey: main.projectKey } })).sessions
      const session = await sessions.open(id)
      const ids: string[] = []
      for await (const entry of session.entries()) if (entry.type === "custom") ids.push(entry.id)
      await session.close()
      const odd = [idOf(message(3), ids[1] ?? ""), idOf(message(4), ids[1] ?? ""), message(1, "c")]
      await store.append(main, odd)
      await open().append(main, [...lines, ...odd])
      expect(await open().load(main)).toEqual([...lines, ...odd])
    })

    test("lines without a uuid are appended each time, in their order", async () => {
      const { main } = keys()
      const store = open()
      const lines: SessionStoreEntry[] = [tag("a"), message(1), tag("a"), { ...tag("b"), uuid: "" }, tag("a")]
      await store.append(main, lines)
      await store.append(main, lines)
      expect(await store.load(main)).toEqual([...lines, tag("a"), tag("a"), { ...tag("b"), uuid: "" }, tag("a")])
    })

    test("appends of one process to one transcript keep the order of the calls", async () => {
      const { main } = keys()
      const store = open()
      await Promise.all(messages(1, 30).map((line) => store.append(main, [line])))
      expect(await store.load(main)).toEqual(messages(1, 30))
    })

    test("two processes append at once: all lines are there once, and those of each in its order", async () => {
      const { main } = keys()
      const [one, two] = [open(), open()]
      const own = Array.from({ length: 20 }, (_, n) => [tag(`one ${n}`), tag(`two ${n}`)] as const)
      await Promise.all(
        own.flatMap(([first, second], n) => [
          one.append(main, [message(n + 1), first]),
          two.append(main, [message(n + 1), second]),
        ]),
      )
      const lines = (await open().load(main)) ?? []
      expect(lines.filter(({ uuid }) => uuid !== undefined).map(({ uuid }) => uuid)).toEqual(
        messages(1, 20).map(({ uuid }) => uuid),
      )
      for (const which of [0, 1] as const) {
        const tags = lines.filter(({ tag }) => String(tag).startsWith(which === 0 ? "one" : "two"))
        expect(tags).toEqual(own.map((pair) => pair[which]))
      }
      expect(await one.load(main)).toEqual(lines)
      expect(await two.load(main)).toEqual(lines)
    })

    test("sessions of other kinds never appear, and other kinds' lists have none of these", async () => {
      const { main, projectKey } = keys()
      const { store, sessions } = openWith()
      await store.append(main, messages(1, 1))
      const [{ id: ours } = { id: "" }] = (await sessions.list({ kind: "claude-agent", metadata: { projectKey } }))
        .sessions
      const prefix = ours.slice(0, ours.indexOf(main.sessionId))
      const metadata = { projectKey, sessionId: uuid(1) }
      await sessions.create({ id: `${prefix}${uuid(1)}`, kind: "langgraph", metadata })
      await sessions.create({ id: `${prefix}${uuid(2)}`, metadata })
      await sessions.create({ id: `${ours}.0123456789abcdef`, metadata: { ...metadata, subpath: "x" } })
      expect((await store.listSessions(projectKey)).map(({ sessionId }) => sessionId)).toEqual([main.sessionId])
      expect(await store.listSubkeys(main)).toEqual([])
      await expect(store.load({ ...main, sessionId: uuid(2) })).rejects.toMatchObject({ code: "invalid" })
      await expect(store.append({ ...main, sessionId: uuid(2) }, messages(1, 1))).rejects.toMatchObject({
        code: "invalid",
      })
      const listed = await sessions.list({ kind: null, limit: 200 })
      expect(listed.sessions.map(({ id }) => id)).not.toContain(ours)
    })

    test("keys may have any length and any characters", async () => {
      const store = open()
      const key = {
        projectKey: `-${"ä/".repeat(300)}${keys().projectKey}`,
        sessionId: "not a uuid ../x",
        subpath: "a/../b",
      }
      await store.append(key, messages(1, 2))
      await store.append({ ...key, subpath: "a" }, messages(1, 1))
      expect(await open().load(key)).toEqual(messages(1, 2))
      expect(await store.listSubkeys(key)).toEqual(["a", "a/../b"])
    })

    test("a transcript that was closed for its memory is opened again", async () => {
      const { main } = keys()
      const { store } = openWith({ maxOpenBytes: 1 })
      await store.append(main, messages(1, 2))
      await store.append(main, messages(1, 3))
      expect(await store.load(main)).toEqual(messages(1, 3))
    })
  })
}
