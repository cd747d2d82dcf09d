import { expect, test } from "vitest"
import { header, jsonl, log, message } from "./logs.ts"
import { contentsOf, createWorkspace, refusal } from "./workspace.ts"

const NOT_A_SESSION: Readonly<Record<string, string | Uint8Array>> = {
  binary: Uint8Array.from({ length: 4096 }, (_, i) => (i * 7919) % 256),
  "binary with line feeds": Uint8Array.from({ length: 4096 }, (_, i) => (i % 16 === 0 ? 10 : (i * 7919) % 256)),
  html: "<!doctype html>\n<html>\n<body>404</body>\n</html>\n",
  "a JSON array": '[{"type":"session"}]\n',
  "a JSON number": "42\n",
  "a JSON text": '"session"\n',
  null: "null\n",
  "an object without a type": '{"version":4}\n',
  empty: "",
  "one byte": "x",
  "one line feed": "\n",
  "only blank lines": "\n\n \n\r\n",
  "a BOM alone": "\uFEFF",
  "a header of another kind": '{"type":"meeting","version":4}\n',
  "a torn header": '{"type":"session","format":"@sessions","vers',
  "a version that is a text": '{"type":"session","format":"@sessions","version":"4","id":"x","timestamp":"t"}\n',
  "a version below 1": '{"type":"session","version":-1,"id":"x"}\n',
  "a fractional version": '{"type":"session","format":"@sessions","version":4.5,"id":"x"}\n',
  "a huge version": '{"type":"session","format":"@sessions","version":1e308,"id":"x"}\n',
  "zeros, as after a crash": new Uint8Array(512),
  "a NUL before the header": `\0${log("x")}`,
  "UTF-16": Buffer.from(log("x"), "utf16le"),
  "a message without a header": `${message("m1", null, 1, "hi")}\n`,
}

const UNKNOWN_VERSIONS: Readonly<Record<string, string>> = {
  "version 99 of this format": jsonl(header("x", { version: 99 }), message("m1", null, 1, "hi")),
  "version 99 without a format": jsonl('{"type":"session","version":99,"id":"x"}', message("m1", null, 1, "hi")),
  "version 4 of another format": jsonl(
    '{"type":"session","format":"other","version":4,"id":"x"}',
    message("m1", null, 1, "hi"),
  ),
  "version 4 without a format": jsonl('{"type":"session","version":4,"id":"x"}', message("m1", null, 1, "hi")),
}

const ALL = { ...NOT_A_SESSION, ...UNKNOWN_VERSIONS }

test.each(Object.keys(ALL))(
  "import refuses %s with a short message, creates no session and keeps the file",
  async (name) => {
    const workspace = createWorkspace()
    workspace.file("file", ALL[name] ?? "")
    const before = contentsOf(workspace.root)
    for (const argv of [
      ["import", "file"],
      ["import", "file", "--from", "sessions"],
      ["import", "file", "--from", "pi"],
      ["import", "file", "--json"],
    ]) {
      expect(refusal(1)(await workspace.cli(...argv)), argv.join(" ")).toBeUndefined()
    }
    expect(contentsOf(workspace.root)).toEqual(before)
  },
)

test.each(Object.keys(NOT_A_SESSION))("%s instead of a log is refused by every command and kept", async (name) => {
  const workspace = createWorkspace()
  workspace.writeLog("keep", { from: 0, content: log("keep") })
  workspace.writeLog("odd", { from: 0, content: NOT_A_SESSION[name] ?? "" })
  const before = workspace.log("odd")
  for (const argv of [
    ["show", "odd"],
    ["context", "odd"],
    ["tree", "odd"],
    ["fork", "odd"],
    ["rename", "odd", "title"],
    ["label", "odd", "m1", "x"],
    ["move", "odd", "/x"],
    ["migrate", "odd"],
    ["copy", "odd", "--to", "./copies"],
    ["rm", "odd", "--entry", "m1"],
  ]) {
    expect(refusal(1)(await workspace.cli(...argv)), argv.join(" ")).toBeUndefined()
    expect(workspace.log("odd").equals(before), argv.join(" ")).toBe(true)
  }
  const verified = await workspace.cli("verify", "--all")
  expect(verified.stderr).toBe("")
  expect(verified.stdout).toContain("ok keep")
  const listed = JSON.parse((await workspace.cli("list", "--json")).stdout) as { sessions: { id: string }[] }
  expect(listed.sessions.map(({ id }) => id)).toEqual(["keep"])
  expect(workspace.log("odd").equals(before)).toBe(true)
})

test.each(Object.keys(UNKNOWN_VERSIONS))("%s in a store can be read and is never written", async (name) => {
  const workspace = createWorkspace()
  workspace.writeLog("odd", { from: 0, content: UNKNOWN_VERSIONS[name] ?? "" })
  const before = workspace.log("odd")
  for (const argv of [
    ["show", "odd"],
    ["context", "odd", "--json"],
    ["tree", "odd"],
    ["export", "odd"],
  ]) {
    expect((await workspace.cli(...argv)).exit, argv.join(" ")).toBe(0)
  }
  expect((await workspace.cli("export", "odd")).stdout).toBe(before.toString())
  expect((await workspace.cli("verify", "odd")).stdout).toContain("unknown_version")
  for (const argv of [
    ["rename", "odd", "title"],
    ["label", "odd", "m1", "x"],
    ["move", "odd", "/x"],
    ["migrate", "odd"],
    ["rm", "odd", "--entry", "m1"],
  ]) {
    const result = await workspace.cli(...argv)
    expect(refusal(1)(result), argv.join(" ")).toBeUndefined()
    expect(result.stderr, argv.join(" ")).toContain("version")
  }
  const sessions = workspace.open()
  const session = await sessions.open("odd")
  await expect(session.append({ type: "message", message: { role: "user", content: "hi" } })).rejects.toMatchObject({
    code: "newer_version",
  })
  await session.close()
  expect(workspace.log("odd").equals(before)).toBe(true)
})

test("a file in the position of a log is not overwritten by a new session of that id", async () => {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", log("x"))
  for (const [name, content] of Object.entries(ALL)) {
    const id = `odd-${Object.keys(ALL).indexOf(name)}`
    workspace.writeLog(id, { from: 0, content })
    const before = workspace.log(id)
    const result = await workspace.cli("import", "in.jsonl", "--id", id)
    expect(refusal(1)(result), name).toBeUndefined()
    expect(workspace.log(id).equals(before), name).toBe(true)
  }
})
