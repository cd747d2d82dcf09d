import { expect, test } from "vitest"
import { runProcess } from "../cli-process.ts"
import { type Child, startChild } from "./child-process.ts"
import { log, textsOf } from "./logs.ts"
import { createWorkspace, type Workspace } from "./workspace.ts"

const WRITER = new URL("./writer-process.ts", import.meta.url)

const writer = (workspace: Workspace, ...args: string[]): Child =>
  startChild(WRITER, workspace.store, "shared", ...args)

async function shared(): Promise<Workspace> {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", log("x"))
  await workspace.cli("import", "in.jsonl", "--id", "shared")
  return workspace
}

async function contextOf(workspace: Workspace): Promise<string[]> {
  const { stdout } = await workspace.cli("context", "shared", "--json")
  return textsOf((JSON.parse(stdout) as { messages: never[] }).messages)
}

function records(workspace: Workspace): {
  type: string
  id: string
  parentId?: string | null
  message?: { content: { text: string }[] }
}[] {
  const lines = workspace.log("shared").toString().trimEnd().split("\n")
  return lines.map((line) => JSON.parse(line) as never)
}

test("a rename from a process that is five entries behind keeps the context", async () => {
  const workspace = await shared()
  const late = writer(workspace, "rename", "from behind")
  expect(await late.line()).toBe("ready")
  const sessions = workspace.open()
  const session = await sessions.open("shared")
  for (let n = 0; n < 5; n++) await session.append({ type: "message", message: { role: "user", content: `new ${n}` } })
  const before = await contextOf(workspace)
  expect(before.length).toBe(8)
  late.send("go")
  expect(await late.rest()).toEqual(["renamed"])
  expect(await contextOf(workspace)).toEqual(before)
  expect((await sessions.info("shared")).title).toBe("from behind")
  await session.append({ type: "message", message: { role: "assistant", content: "and on" } })
  expect(await contextOf(workspace)).toEqual([...before, "and on"])
  expect((await workspace.cli("verify", "shared")).exit).toBe(0)
})

test("two concurrent turns are both complete", async () => {
  const workspace = await shared()
  const children = ["ann", "bob"].map((name) => writer(workspace, "turn", name))
  for (const child of children) expect(await child.line()).toBe("ready")
  for (const child of children) child.send("go")
  for (const child of children) expect(await child.rest()).toHaveLength(1)
  const messages = records(workspace).filter(({ type }) => type === "message")
  for (const name of ["ann", "bob"]) {
    const [asks, ...more] = messages.filter(({ message }) => message?.content[0]?.text === `${name} asks`)
    const answers = messages.filter(({ message }) => message?.content[0]?.text === `${name} is answered`)
    expect([more, answers.map(({ parentId }) => parentId)]).toEqual([[], [asks?.id]])
  }
  // In line, if the first append of one turn came after the whole other turn. Else there are two branches, and verify reports them: a turn
  // that has begun to write is not repeated.
  const context = await contextOf(workspace)
  const { reports } = JSON.parse((await workspace.cli("verify", "shared", "--json")).stdout) as {
    reports: { damaged: boolean; diagnostics: { code: string }[] }[]
  }
  expect(reports[0]?.damaged).toBe(false)
  const codes = reports[0]?.diagnostics.map(({ code }) => code) ?? []
  expect(codes).toEqual(context.length === 7 ? [] : ["diverged"])
})

test("an entry that two processes append repeatedly is stored once", async () => {
  const workspace = await shared()
  const children = [writer(workspace, "same", "request-1", "5"), writer(workspace, "same", "request-1", "5")]
  for (const child of children) expect(await child.line()).toBe("ready")
  for (const child of children) child.send("go")
  for (const child of children) expect(await child.rest()).toEqual(Array.from({ length: 5 }, () => "request-1"))
  const again = writer(workspace, "same", "request-1", "2")
  again.send("go")
  expect(await again.rest()).toEqual(["ready", "request-1", "request-1"])
  expect(records(workspace).filter(({ id }) => id === "request-1").length).toBe(1)
  expect((await contextOf(workspace)).filter((text) => text === "once").length).toBe(1)
})

test("concurrent appends of four processes are stored once each, in the order of each process", async () => {
  const workspace = await shared()
  const names = ["a", "b", "c", "d"]
  const acknowledged = await Promise.all(names.map((name) => writer(workspace, "appends", name, "40").rest()))
  const stored = records(workspace).map(({ id }) => id)
  for (const [index, ids] of acknowledged.entries()) {
    expect(ids.length, names[index]).toBe(40)
    const own = new Set(ids)
    expect(
      stored.filter((id) => own.has(id)),
      names[index],
    ).toEqual(ids)
  }
  expect(new Set(stored).size).toBe(stored.length)
  const info = JSON.parse((await workspace.cli("show", "shared", "--json", "--last", "0")).stdout) as {
    info: { messageCount: number }
  }
  expect(info.info.messageCount).toBe(3 + 4 * 40)
  expect(JSON.parse((await workspace.cli("verify", "shared", "--json")).stdout)).toMatchObject({ damaged: false })
})

test("concurrent commands on one session all succeed and are stored", async () => {
  const workspace = await shared()
  const titles = ["one", "two"]
  const results = await Promise.all([
    ...titles.map((title) => runProcess({ cwd: workspace.cwd }, "rename", "shared", title)),
    runProcess({ cwd: workspace.cwd }, "label", "shared", "m1", "start"),
    runProcess({ cwd: workspace.cwd }, "fork", "shared", "--id", "forked"),
  ])
  for (const result of results) expect(result).toMatchObject({ exit: 0, stderr: "" })
  const changes = records(workspace).filter(({ type }) => type === "title_change")
  expect(changes.length).toBe(2)
  expect(await contextOf(workspace)).toEqual(["text 1", "text 2", "text 3"])
  expect((await workspace.cli("verify", "--all")).stdout).toContain("2 sessions, 0 damaged")
})

test("a session that another process deletes stays deleted when an open handle writes to it", async () => {
  const workspace = await shared()
  const late = writer(workspace, "rename", "late")
  expect(await late.line()).toBe("ready")
  expect((await workspace.cli("rm", "shared", "--yes")).exit).toBe(0)
  late.send("go")
  await expect(late.rest()).rejects.toThrow(/not_found|no session|deleted/)
  const list = JSON.parse((await workspace.cli("list", "--json")).stdout) as { sessions: unknown[] }
  expect(list.sessions).toEqual([])
})
