/** The readers of the Claude Agent SDK over the store. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  deleteSession,
  foldSessionSummary,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  importSessionToStore,
  listSessions,
  listSubagents,
  renameSession,
  tagSession,
} from "@anthropic-ai/claude-agent-sdk"
import { createSessions, type Sessions } from "@sessions/core"
import { createClaudeStore, type ClaudeStore, type SessionStoreEntry } from "@sessions/claude-agent"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { AGENT, MAIN, message, messages, uuid } from "./lines.ts"
import type { Place, Storages } from "./storages.ts"

export function readersTests(storages: Storages): void {
  describe.each(Object.entries(storages))("on %s", (_, makePlace) => {
    let place: Place
    let config = ""
    let sessions: Sessions
    let work = 0
    const opened: { sessions: Sessions; store: ClaudeStore }[] = []
    const { CLAUDE_CONFIG_DIR: before } = process.env

    beforeAll(async () => {
      place = await makePlace()
      config = mkdtempSync(join(tmpdir(), "sessions-claude-config-"))
      process.env["CLAUDE_CONFIG_DIR"] = config
    })
    afterEach(async () => {
      for (const one of opened.splice(0)) {
        await one.store.close()
        await one.sessions.close()
      }
    })
    afterAll(async () => {
      if (before === undefined) delete process.env["CLAUDE_CONFIG_DIR"]
      else process.env["CLAUDE_CONFIG_DIR"] = before
      rmSync(config, { recursive: true })
      await place.remove()
    })

    function open(fold: boolean): ClaudeStore {
      sessions = createSessions({ storage: place.open() })
      const store = createClaudeStore({ sessions, ...(fold ? { foldSessionSummary } : {}) })
      opened.push({ sessions, store })
      return store
    }

    /** A folder that no other test uses, with the key that the SDK makes of it. */
    function project(): { dir: string; projectKey: string } {
      const dir = `/home/ada/work-${++work}`
      return { dir, projectKey: dir.replaceAll(/[^A-Za-z0-9]/g, "-") }
    }

    const text = (messages: readonly { message: unknown }[]) =>
      messages
        .map(({ message }) => (message as { content: string | { text: string }[] }).content)
        .map((content) => (typeof content === "string" ? content : content[0]?.text))

    test.each([true, false])("the readers find sessions, messages and subagents (summaries: %s)", async (fold) => {
      const sessionStore = open(fold)
      const { dir, projectKey } = project()
      const main = { ...MAIN, projectKey }
      const agentLines = messages(11, 12).map(
        (line): SessionStoreEntry => ({ ...line, isSidechain: true, agentId: "a1" }),
      )
      await sessionStore.append(main, messages(1, 4))
      await sessionStore.append({ ...AGENT, projectKey }, [
        { ...agentLines[0], parentUuid: null } as SessionStoreEntry,
        agentLines[1] as SessionStoreEntry,
      ])
      const options = { dir, sessionStore }
      expect((await listSessions(options)).map(({ sessionId, firstPrompt }) => ({ sessionId, firstPrompt }))).toEqual([
        { sessionId: main.sessionId, firstPrompt: "text 1" },
      ])
      expect(await getSessionInfo(main.sessionId, options)).toMatchObject({
        sessionId: main.sessionId,
        cwd: "/home/ada/work",
      })
      expect(text(await getSessionMessages(main.sessionId, options))).toEqual(["text 1", "text 2", "text 3", "text 4"])
      expect(await listSubagents(main.sessionId, options)).toEqual(["a1"])
      expect(text(await getSubagentMessages(main.sessionId, "a1", options))).toEqual(["text 11", "text 12"])
      expect(await listSessions({ ...options, dir: project().dir })).toEqual([])
    })

    test.each([true, false])("renaming, tagging and deleting show in the lists (summaries: %s)", async (fold) => {
      const sessionStore = open(fold)
      const { dir, projectKey } = project()
      const main = { ...MAIN, projectKey }
      const options = { dir, sessionStore }
      await sessionStore.append(main, messages(1, 2))
      await renameSession(main.sessionId, "First title", options)
      await renameSession(main.sessionId, "Second title", options)
      await tagSession(main.sessionId, "done", options)
      const expected = { customTitle: "Second title", tag: "done" }
      expect(await listSessions(options)).toMatchObject([expected])
      expect(await getSessionInfo(main.sessionId, options)).toMatchObject(expected)
      // In another process, and in our own list.
      const other = open(fold)
      expect(await listSessions({ dir, sessionStore: other })).toMatchObject([expected])
      expect((await sessions.list({ metadata: { projectKey } })).sessions).toMatchObject([
        { title: "Second title", kind: "claude-agent", cwd: "/home/ada/work" },
      ])
      await deleteSession(main.sessionId, options)
      expect(await listSessions(options)).toEqual([])
      expect(await sessionStore.load(main)).toBeNull()
    })

    test("a fork is a session of its own, and leaves the first one as it was", async () => {
      const sessionStore = open(true)
      const { dir, projectKey } = project()
      const options = { dir, sessionStore }
      await sessionStore.append({ ...MAIN, projectKey }, messages(1, 4))
      const { sessionId } = await forkSession(MAIN.sessionId, { ...options, upToMessageId: uuid(2) })
      expect(text(await getSessionMessages(sessionId, options))).toEqual(["text 1", "text 2"])
      expect(await sessionStore.load({ ...MAIN, projectKey })).toEqual(messages(1, 4))
      expect((await listSessions(options)).map((one) => one.sessionId).sort()).toEqual(
        [MAIN.sessionId, sessionId].sort(),
      )
    })

    test("importSessionToStore moves a local session in with its subagents, and repeating it changes nothing", async () => {
      const sessionStore = open(true)
      const { dir, projectKey } = project()
      const sessionId = uuid(100 + work)
      const folder = join(config, "projects", projectKey)
      const main = Array.from({ length: 1201 }, (_, n) => message(n + 1, `text ${n + 1}`, sessionId))
      const agent = messages(1, 2).map((line) => ({ ...line, sessionId, isSidechain: true, agentId: "b2" }))
      mkdirSync(join(folder, sessionId, "subagents"), { recursive: true })
      writeFileSync(join(folder, `${sessionId}.jsonl`), linesOf(main))
      writeFileSync(join(folder, sessionId, "subagents", "agent-b2.jsonl"), linesOf(agent))
      for (let round = 0; round < 2; round++) {
        await importSessionToStore(sessionId, sessionStore, { dir })
        expect(await sessionStore.load({ projectKey, sessionId })).toEqual(main)
        expect(await sessionStore.load({ projectKey, sessionId, subpath: "subagents/agent-b2" })).toEqual(agent)
      }
      expect(await listSessions({ dir, sessionStore })).toMatchObject([{ sessionId, firstPrompt: "text 1" }])
    })

    test("a summary has the lines that another process has appended in between", async () => {
      const [one, two] = [open(true), open(true)]
      const { projectKey } = project()
      const key = { ...MAIN, projectKey }
      await one.append(key, messages(1, 1))
      await two.append(key, [{ type: "custom-title", customTitle: "title", sessionId: key.sessionId }])
      await one.append(key, [{ type: "tag", tag: "tag", sessionId: key.sessionId }])
      expect(await two.listSessionSummaries?.(projectKey)).toMatchObject([
        { data: { customTitle: "title", tag: "tag" } },
      ])
    })

    test("summaries of two processes that append at once are those of the whole log", async () => {
      const [one, two] = [open(true), open(true)]
      const { projectKey } = project()
      const key = { ...MAIN, projectKey }
      await Promise.all(
        Array.from({ length: 10 }, (_, n) => [
          one.append(key, [
            message(2 * n + 1),
            { type: "custom-title", customTitle: `title ${n}`, sessionId: key.sessionId },
          ]),
          two.append(key, [message(2 * n + 2), { type: "tag", tag: `tag ${n}`, sessionId: key.sessionId }]),
        ]).flat(),
      )
      const whole = foldSessionSummary(undefined, key, (await one.load(key)) ?? [])
      const [summary] = (await open(true).listSessionSummaries?.(projectKey)) ?? []
      expect(summary?.data).toEqual(whole.data)
      expect(summary?.data).toMatchObject({ customTitle: "title 9", tag: "tag 9" })
    })

    test("a store without the fold removes the summary, which would be out of date, and the SDK loads the session", async () => {
      const { dir, projectKey } = project()
      const key = { ...MAIN, projectKey }
      const withFold = open(true)
      await withFold.append(key, [message(1), { type: "custom-title", customTitle: "old", sessionId: key.sessionId }])
      await open(false).append(key, [{ type: "custom-title", customTitle: "new", sessionId: key.sessionId }])
      expect(await withFold.listSessionSummaries?.(projectKey)).toEqual([])
      expect(await listSessions({ dir, sessionStore: withFold })).toMatchObject([{ customTitle: "new" }])
      await withFold.append(key, [message(2)])
      expect(await withFold.listSessionSummaries?.(projectKey)).toMatchObject([{ data: { customTitle: "new" } }])
    })
  })
}

function linesOf(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("")
}
