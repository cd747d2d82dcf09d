/** Characters with a special meaning in lines, terminals or JSON, in messages and in files. */
import { createSessions } from "@sessions/core"
import { continueRecent, copySession, setPointer } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { chain, header, jsonl, message, textsOf } from "./logs.ts"
import { createWorkspace } from "./workspace.ts"

const ODD_TEXTS: Readonly<Record<string, string>> = {
  "line separators": "a\u2028b\u2029c",
  "line feeds": "a\nb\r\nc\rd\u0085e",
  "a lone high surrogate": "a\ud800b",
  "a lone low surrogate at the end": "ab\udfff",
  "surrogates the wrong way round": "\udc00\ud800",
  "NUL and controls": "\0\u0001\u001b[31mred\u001b[0m\u007f\u009b",
  "a BOM": "\uFEFFtext\uFEFF",
  "bidirectional control characters": "\u202eevil\u2066",
  emoji: "👩‍👩‍👧‍👦🏳️‍🌈",
  "text like a blob reference": `blob:sha256:${"0123456789abcdef".repeat(4)}`,
  "JSON in text": '{"type":"session","version":99}\n{"type":"message"}',
  "an escaped line end": "a\\u2028\\n",
  "no characters": "",
  "quotes and backslashes": '\\"\\\\"',
  "a closing seq": '","seq":7,"timestamp":"',
}

test.each(Object.keys(ODD_TEXTS))("a message of %s stays unchanged in files, exports and imports", async (name) => {
  const text = ODD_TEXTS[name] ?? ""
  const workspace = createWorkspace()
  const sessions = workspace.open()
  const session = await sessions.create({ id: "odd", cwd: `/p/${name}` })
  await session.append([
    { type: "message", message: { role: "user", content: text } },
    { type: "message", message: { role: "assistant", content: [{ type: "text", text }], stopReason: text } },
    { type: "custom", customType: "x", data: { [text]: text } },
  ])
  await session.close()
  const lines = workspace.log("odd").toString().trimEnd().split("\n")
  expect(lines.length).toBe(4)

  // Providers refuse an empty text, so a context leaves it out.
  const shown = text === "" ? [] : [text, text]
  const read = JSON.parse((await workspace.cli("context", "odd", "--json")).stdout) as { messages: never[] }
  expect(textsOf(read.messages)).toEqual(shown)

  const exported = await workspace.cli("export", "odd")
  expect(exported.stdout).toBe(workspace.log("odd").toString())
  workspace.file("out.jsonl", exported.stdout)
  expect((await workspace.cli("import", "out.jsonl", "--id", "again")).exit).toBe(0)
  expect(workspace.log("again").toString()).toBe(workspace.log("odd").toString().replace('"id":"odd"', '"id":"again"'))
  const again = await sessions.open("again")
  expect(textsOf((await again.context()).messages)).toEqual(shown)
  const entries: unknown[] = []
  for await (const entry of again.entries()) entries.push(entry)
  expect(entries).toContainEqual(expect.objectContaining({ data: { [text]: text } }))
  await again.close()
  expect((await workspace.cli("verify", "--all")).exit).toBe(0)
})

const VARIANTS: Readonly<Record<string, (plain: string) => string>> = {
  "a BOM": (plain) => `\uFEFF${plain}`,
  "CRLF line ends": (plain) => plain.replaceAll("\n", "\r\n"),
  "a BOM and CRLF line ends": (plain) => `\uFEFF${plain.replaceAll("\n", "\r\n")}`,
  "white space around each record": (plain) => plain.replaceAll("\n", " \t\n"),
  "no line feed at the end": (plain) => plain.trimEnd(),
}

test.each(Object.keys(VARIANTS))("a log with %s is read and appended to, and keeps its bytes", async (name) => {
  const plain = jsonl(header("variant"), ...chain(3))
  const content = Buffer.from(VARIANTS[name]?.(plain) ?? "")
  const whole = content.subarray(0, content.lastIndexOf(10) + 1)
  const workspace = createWorkspace()
  workspace.writeLog("variant", { from: 0, content })
  const texts = async (): Promise<string[]> => {
    const { stdout, stderr, exit } = await workspace.cli("context", "variant", "--json")
    expect(exit, stderr).toBe(0)
    return textsOf((JSON.parse(stdout) as { messages: never[] }).messages)
  }
  const expected = ["text 1", "text 2", "text 3"].slice(0, whole.length === content.length ? 3 : 2)
  expect(await texts()).toEqual(expected)
  const sessions = workspace.open()
  const session = await sessions.open("variant")
  await session.append({ type: "message", message: { role: "user", content: "more" } })
  await session.close()
  expect(workspace.log("variant").subarray(0, whole.length).equals(whole)).toBe(true)
  expect(await texts()).toEqual([...expected, "more"])
})

test.each(Object.keys(VARIANTS))("a file with %s is imported with every message", async (name) => {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", VARIANTS[name]?.(jsonl(header("x"), ...chain(3))) ?? "")
  expect(await workspace.cli("import", "in.jsonl", "--id", "in")).toMatchObject({ exit: 0, stdout: "in\n" })
  const { stdout } = await workspace.cli("context", "in", "--json")
  expect(textsOf((JSON.parse(stdout) as { messages: never[] }).messages)).toEqual(["text 1", "text 2", "text 3"])
  expect((await workspace.cli("verify", "in")).exit).toBe(0)
})

test.each(Object.keys(VARIANTS))("an older log with %s is imported with every message", async (name) => {
  const older = jsonl(
    '{"type":"session","version":3,"id":"pi-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}',
    '{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one\u2028line"}}',
    '{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":"two"}}',
  )
  const workspace = createWorkspace()
  workspace.file("in.jsonl", VARIANTS[name]?.(older) ?? "")
  expect((await workspace.cli("import", "in.jsonl", "--id", "in")).exit).toBe(0)
  const { stdout } = await workspace.cli("context", "in", "--json")
  expect(textsOf((JSON.parse(stdout) as { messages: never[] }).messages)).toEqual(["one\u2028line", "two"])
  const list = JSON.parse((await workspace.cli("list", "--json")).stdout) as { sessions: { messageCount: number }[] }
  expect(list.sessions[0]?.messageCount).toBe(2)
})

test("bytes that are not UTF-8 are never rewritten, and every command handles them", async () => {
  const workspace = createWorkspace()
  const bad = Buffer.concat([
    Buffer.from(jsonl(header("bad"), ...chain(2))),
    Buffer.from(
      '{"type":"message","id":"m3","parentId":"m2","seq":3,"timestamp":"x","message":{"role":"user","content":[{"type":"text","text":"',
    ),
    Buffer.from([0xff, 0xfe, 0xc3]),
    Buffer.from('"}]}}\n'),
    Buffer.from(`${message("m4", "m3", 4, "after")}\n`),
  ])
  workspace.writeLog("bad", { from: 0, content: bad })
  for (const argv of [
    ["show", "bad"],
    ["context", "bad"],
    ["tree", "bad"],
    ["export", "bad"],
    ["rename", "bad", "x"],
    ["verify", "bad"],
    ["fork", "bad"],
    ["copy", "bad", "--to", "./b"],
  ]) {
    const result = await workspace.cli(...argv)
    expect(result.stderr, argv.join(" ")).not.toContain("unexpected")
    expect(workspace.log("bad").subarray(0, bad.length).equals(bad), argv.join(" ")).toBe(true)
  }
  expect((await workspace.cli("verify", "bad")).exit).toBe(1)
  expect((await workspace.cli("list", "--json")).exit).toBe(0)
  const file = workspace.file("bad.jsonl", bad)
  const imported = await workspace.cli("import", file, "--id", "in")
  expect(imported.exit).toBe(0)
  expect((await workspace.cli("context", "in")).stdout).toContain("after")
})

test("a lone surrogate in metadata, titles and folders is kept and listed", async () => {
  const workspace = createWorkspace()
  const sessions = workspace.open()
  const session = await sessions.create({ id: "odd", cwd: "/p\ud800", title: "t\udc00" })
  await session.metadata("k\ud800", "v\udfff")
  await session.label((await session.append({ type: "custom", customType: "\ud801" })).ids[0] ?? "", "l\ud800")
  await session.close()
  expect(await sessions.info("odd")).toMatchObject({
    cwd: "/p\ud800",
    title: "t\udc00",
    metadata: { "k\ud800": "v\udfff" },
  })
  expect((await sessions.list({ cwd: "/p\ud800" })).sessions.length).toBe(1)
  await setPointer(sessions, "tty", { session: "odd", cwd: "/p\ud800" })
  expect((await continueRecent(sessions, { cwd: "/p\ud800", pointer: "tty" })).id).toBe("odd")
  const memory = createSessions({ storage: createMemoryStorage() })
  await copySession(sessions, "odd", memory.storage)
  expect(await memory.info("odd")).toMatchObject({ title: "t\udc00" })
  for (const argv of [["list"], ["show", "odd"], ["tree", "odd"], ["verify", "odd"]])
    expect((await workspace.cli(...argv)).exit).toBe(0)
})
