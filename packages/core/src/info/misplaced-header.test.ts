import { describe, expect, test } from "vitest"
import { entryLine, headerLine, linesOf, memory, saidLine } from "../../test/kept-info.ts"
import { storeLines, STORED_ID } from "../../test/stored.ts"
import { textOf } from "../../test/transfer.ts"
import { createSessions } from "../session/repository.ts"
import { exportSession, forkSession } from "../transfer/index.ts"

const CREATED = "2026-01-31T09:30:00.000Z"
const HEADER = headerLine().replace("}", ',"cwd":"/project"}')
/** Lines that may come before a header: one that is not a record, and the title that another program keeps there. */
const BEFORE = ["not a record", '{"type":"title","v":1,"title":"from the slot","pad":""}']

/** An entry's seq is its line's position, so the header counts as a line. */
function logWith(before: string): string[] {
  return [before, HEADER, ...[2, 3, 4, 5].map((seq) => saidLine(seq).replace('"parentId":"e1"', '"parentId":null'))]
}

describe.each(BEFORE)("a log that begins with %s before its header", (before) => {
  test("has the same information whether it is opened, listed or queried, the first time and later", async () => {
    const storage = memory()
    await storeLines(logWith(before), storage)
    const sessions = createSessions({ storage })
    const expected = { createdAt: CREATED, cwd: "/project", messageCount: 4 }
    const opened = await (await sessions.open(STORED_ID)).info()
    expect(opened).toMatchObject(expected)
    for (const _ of [1, 2]) {
      expect(await sessions.info(STORED_ID)).toEqual(opened)
      expect((await sessions.list()).sessions).toEqual([opened])
    }
  })

  test("keeps its information when it continues, and when the first prompts are deleted", async () => {
    const storage = memory()
    await storeLines(logWith(before), storage)
    const session = await createSessions({ storage }).open(STORED_ID)
    for (const seq of [2, 3, 4, 5]) await session.tombstone(`e${seq}`)
    await session.append({ type: "message", message: { role: "user", content: "last" } })
    const expected = { createdAt: CREATED, cwd: "/project", messageCount: 5, firstPrompt: "last" }
    expect(await session.info()).toMatchObject(expected)
    expect((await createSessions({ storage }).list()).sessions[0]).toMatchObject(expected)
  })

  test("is listed by its header, even if stored information of another log is beside it", async () => {
    const storage = memory()
    const lines = [...logWith(before), entryLine(6, { type: "title_change", title: "t", source: "user" })]
    const info = JSON.stringify({ v: 6, log: "", to: { seq: 3, id: "another" }, leaf: null, createdAt: CREATED })
    const head = await storage.append(STORED_ID, lines.slice(0, 4), { expect: 0, info })
    await storage.append(STORED_ID, lines.slice(4), { expect: head })
    expect(await createSessions({ storage }).info(STORED_ID)).toMatchObject({ createdAt: CREATED, title: "t" })
  })

  test("is forked and exported as a document under its own header", async () => {
    const storage = memory()
    await storeLines(logWith(before), storage)
    const sessions = createSessions({ storage })
    const fork = await forkSession(sessions, STORED_ID, { id: "fork" })
    expect(await fork.info()).toMatchObject({ cwd: "/project", messageCount: 4 })
    expect(JSON.parse((await linesOf(storage, "fork"))[0] as string)).toMatchObject({ format: "@sessions", id: "fork" })
    expect(await textOf(exportSession(sessions, STORED_ID, { format: "markdown" }))).toContain("- Directory: /project")
  })
})
