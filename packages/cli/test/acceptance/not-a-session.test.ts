import { expect, test } from "vitest"
import { header, jsonl, log, message } from "./logs.ts"
import { contentsOf, makePlace, refusal, refusalOrSuccess } from "./workspace.ts"

const NOTHING_OF_OURS: Readonly<Record<string, string | Uint8Array>> = {
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
  "a version between two": '{"type":"session","format":"@sessions","version":4.5,"id":"x"}\n',
  "a version that no counting reaches": '{"type":"session","format":"@sessions","version":1e308,"id":"x"}\n',
  "zeros, as a crash leaves them": new Uint8Array(512),
  "a NUL before the header": `\0${log("x")}`,
  "UTF-16": Buffer.from(log("x"), "utf16le"),
  "a message of no session": `${message("m1", null, 1, "hi")}\n`,
}

const NEWER: Readonly<Record<string, string>> = {
  "version 99 of ours": jsonl(header("x", { version: 99 }), message("m1", null, 1, "hi")),
  "version 99 of nobody": jsonl('{"type":"session","version":99,"id":"x"}', message("m1", null, 1, "hi")),
  "version 4 of another format": jsonl(
    '{"type":"session","format":"other","version":4,"id":"x"}',
    message("m1", null, 1, "hi"),
  ),
  "version 4 without a format": jsonl('{"type":"session","version":4,"id":"x"}', message("m1", null, 1, "hi")),
}

const ALL = { ...NOTHING_OF_OURS, ...NEWER }

test.each(Object.keys(ALL))("import refuses %s in one line, makes no session and leaves the file", async (name) => {
  const place = makePlace()
  place.file("file", ALL[name] ?? "")
  const before = contentsOf(place.root)
  for (const argv of [
    ["import", "file"],
    ["import", "file", "--from", "sessions"],
    ["import", "file", "--from", "pi"],
    ["import", "file", "--json"],
  ]) {
    expect(refusal(1)(await place.cli(...argv)), argv.join(" ")).toBeUndefined()
  }
  expect(contentsOf(place.root)).toEqual(before)
})

test.each(Object.keys(NOTHING_OF_OURS))(
  "%s in the place of a log is refused by every command and stays",
  async (name) => {
    const place = makePlace()
    place.plant("keep", { from: 0, content: log("keep") })
    place.plant("odd", { from: 0, content: NOTHING_OF_OURS[name] ?? "" })
    const before = place.log("odd")
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
      expect(refusal(1)(await place.cli(...argv)), argv.join(" ")).toBeUndefined()
      expect(place.log("odd").equals(before), argv.join(" ")).toBe(true)
    }
    const verified = await place.cli("verify", "--all")
    expect(verified.stderr).toBe("")
    expect(verified.stdout).toContain("ok keep")
    const listed = JSON.parse((await place.cli("list", "--json")).stdout) as { sessions: { id: string }[] }
    expect(listed.sessions.map(({ id }) => id)).toEqual(["keep"])
    expect(place.log("odd").equals(before)).toBe(true)
  },
)

test.each(Object.keys(NEWER))("%s in a store can be read and is never written", async (name) => {
  const place = makePlace()
  place.plant("odd", { from: 0, content: NEWER[name] ?? "" })
  const before = place.log("odd")
  for (const argv of [
    ["show", "odd"],
    ["context", "odd", "--json"],
    ["tree", "odd"],
    ["export", "odd"],
  ]) {
    expect((await place.cli(...argv)).exit, argv.join(" ")).toBe(0)
  }
  expect((await place.cli("export", "odd")).stdout).toBe(before.toString())
  expect((await place.cli("verify", "odd")).stdout).toContain("unknown_version")
  for (const argv of [
    ["rename", "odd", "title"],
    ["label", "odd", "m1", "x"],
    ["move", "odd", "/x"],
    ["migrate", "odd"],
    ["rm", "odd", "--entry", "m1"],
  ]) {
    const result = await place.cli(...argv)
    expect(refusal(1)(result), argv.join(" ")).toBeUndefined()
    expect(result.stderr, argv.join(" ")).toContain("version")
  }
  const sessions = place.open()
  const session = await sessions.open("odd")
  await expect(session.append({ type: "message", message: { role: "user", content: "hi" } })).rejects.toMatchObject({
    code: "newer_version",
  })
  await session.close()
  expect(place.log("odd").equals(before)).toBe(true)
})

test("what is in the place of a log is not overwritten by making a session of that id", async () => {
  const place = makePlace()
  place.file("in.jsonl", log("x"))
  for (const [name, content] of Object.entries(ALL)) {
    const id = `odd-${Object.keys(ALL).indexOf(name)}`
    place.plant(id, { from: 0, content })
    const before = place.log(id)
    const result = await place.cli("import", "in.jsonl", "--id", id)
    // Without one whole line there is no log, and what stands there is set aside as a torn one.
    const isTaken = before.includes(10)
    expect(isTaken ? refusal(1)(result) : refusalOrSuccess(result), name).toBeUndefined()
    expect(place.log(id).equals(before), name).toBe(isTaken)
  }
})
