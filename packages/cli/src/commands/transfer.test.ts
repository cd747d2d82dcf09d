import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { makeSample } from "../../test/sample.ts"

let cwd = ""
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "sessions-cli-"))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const PI = [
  '{"type":"session","version":3,"id":"pi-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/project"}',
  '{"type":"message","id":"aa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hi"}}',
].join("\n")

test("import reads a file or standard input and prints only the new id", async () => {
  const cli = createCli({ cwd })
  writeFileSync(join(cwd, "pi.jsonl"), `${PI}\n`)
  const fromFile = await cli("import", "pi.jsonl")
  expect(fromFile).toMatchObject({ exit: 0, stdout: expect.stringMatching(/^pi\.[0-9a-f]{32}\n$/) })
  const fromInput = await cli.with({ stdin: PI }, "import", "-", "--id", "mine", "--from", "pi")
  expect(fromInput.stdout).toBe("mine\n")
  expect(await cli.json("import", "pi.jsonl")).toMatchObject({ from: { format: "pi", version: 3 }, diagnostics: [] })
})

test("a log of pi that is imported again is found, and refused if it has changed", async () => {
  const cli = createCli({ cwd })
  const more = PI.replaceAll("aa", "bb").split("\n")[1]?.replace('"parentId":null', '"parentId":"aa"')
  writeFileSync(join(cwd, "pi.jsonl"), `${PI}\nno JSON\n`)
  const { stdout } = await cli("import", "pi.jsonl")
  for (const again of [await cli("import", "pi.jsonl"), await cli("import", "pi.jsonl", "--from", "pi")]) {
    expect(again).toMatchObject({ exit: 0, stdout })
    expect(again.stderr).toContain("imported before, nothing was written")
  }
  await cli.use(async (sessions) => {
    await (await sessions.open(stdout.trim())).append({ type: "message", message: { role: "user", content: "more" } })
  })
  expect(await cli("import", "pi.jsonl")).toMatchObject({ exit: 0, stdout })
  writeFileSync(join(cwd, "pi.jsonl"), `${PI}\nno JSON\n${more}\n`)
  expect(await cli("import", "pi.jsonl")).toMatchObject({ exit: 1, stderr: expect.stringMatching(/has changed since/) })
  expect((await cli.json("list")) as object).toMatchObject({ sessions: [{ id: stdout.trim() }] })
  expect((await cli("import", "pi.jsonl", "--id", "another")).exit).toBe(0)
})

test("a file that is not a session, or not of the --from format, is refused and creates nothing", async () => {
  const cli = createCli({ cwd })
  writeFileSync(join(cwd, "notes.txt"), "hello\n")
  writeFileSync(join(cwd, "pi.jsonl"), `${PI}\n`)
  expect(await cli("import", "notes.txt")).toMatchObject({
    exit: 1,
    stdout: "",
    stderr: expect.stringMatching(/^sessions: [^\n]+\n(?: {2}[^\n]+\n)+$/),
  })
  expect((await cli("import", "pi.jsonl", "--from", "oh-my-pi")).exit).toBe(1)
  expect(await cli.json("list")).toMatchObject({ sessions: [] })
})

test("an unreadable file is reported with the reason", async () => {
  const cli = createCli({ cwd })
  expect((await cli("import", "missing.jsonl")).stderr).toBe(
    "sessions: cannot read missing.jsonl: no such file or folder.\n",
  )
  expect((await cli("import", ".")).stderr).toBe(
    "sessions: . has no file that ends in .jsonl or .json; name a session file.\n",
  )
  expect((await cli("import", "x.jsonl", "--id", "a/b")).exit).toBe(2)
})

test("export prints the stored log byte for byte, and importing that gives the same log", async () => {
  const cli = createCli({ cwd })
  const { id } = await cli.use((sessions) => makeSample(sessions))
  const { stdout } = await cli("export", id)
  const stored = await cli.use(async ({ storage }) => {
    let text = ""
    for await (const { lines } of storage.read(id)) for (const line of lines) text += `${line}\n`
    return text
  })
  expect(stdout).toBe(stored)
  await cli.with({ stdin: stdout }, "import", "-", "--store", "mem:other", "--id", id)
  const again = (await cli("export", id, "--store", "mem:other")).stdout
  expect(again.split("\n").slice(1)).toEqual(stdout.split("\n").slice(1))
})

test("export --out creates a file and never overwrites one", async () => {
  const cli = createCli({ cwd })
  const { id } = await cli.use((sessions) => makeSample(sessions))
  expect(await cli.json("export", id, "--out", "a.jsonl")).toMatchObject({ id, file: "a.jsonl", blobs: 0 })
  expect(readFileSync(join(cwd, "a.jsonl"), "utf8")).toBe((await cli("export", id)).stdout)
  writeFileSync(join(cwd, "b.md"), "mine")
  const { exit, stderr } = await cli("export", id, "--format", "markdown", "--out", "b.md")
  expect(exit).toBe(1)
  expect(stderr).toBe("sessions: cannot write b.md: it already exists; choose another name or remove it.\n")
  expect(readFileSync(join(cwd, "b.md"), "utf8")).toBe("mine")
})

test("blobs are exported to a folder next to the log and imported with it", async () => {
  const cli = createCli({ cwd })
  const data = Buffer.alloc(3000, "image").toString("base64")
  await cli.use(async (sessions) => {
    const session = await sessions.create({ id: "pictures" })
    const unrelated = await sessions.storage.blobs.put(new TextEncoder().encode("another session's"))
    const lookalike = `blob:sha256:${unrelated}`
    const content = [
      { type: "image", data, mimeType: "image/png" } as const,
      { type: "text", text: lookalike } as const,
    ]
    await session.append({ type: "message", message: { role: "user", content } })
    await session.close()
  })
  expect(await cli.json("export", "pictures", "--out", "p.jsonl")).toMatchObject({ blobs: 1 })
  expect(readFileSync(join(cwd, "p.jsonl"), "utf8")).not.toContain(data)
  expect(readdirSync(join(cwd, "p.jsonl.blobs")).length).toBe(1)
  await cli("import", "p.jsonl", "--store", "mem:other", "--id", "back")
  expect((await cli("show", "back", "--store", "mem:other", "--json")).stdout).toContain(data)
  expect((await cli("export", "pictures", "--self-contained")).stdout).toContain(data)
})

test("an import reads no blob of another session, unless --any-blobs is given; an export writes none", async () => {
  const cli = createCli({ cwd })
  const hash = await cli.use(({ storage }) => storage.blobs.put(new TextEncoder().encode("secret")))
  const block = { type: "image", mimeType: "image/png", data: `blob:sha256:${hash}` }
  const head = { type: "session", format: "@sessions", version: 4, id: "x", timestamp: "2026-01-01T00:00:00.000Z" }
  const entry = {
    type: "message",
    id: "m",
    parentId: null,
    seq: 1,
    timestamp: head.timestamp,
    message: { role: "user", content: [block] },
  }
  const file = (blobs: object): string => `${JSON.stringify(head)}\n${JSON.stringify({ ...entry, ...blobs })}\n`
  const claim = file({ blobs: { "/message/content/0/data": "base64" } })
  const { stderr } = await cli.with({ stdin: claim }, "import", "-", "--id", "claim")
  expect(stderr).toContain("missing_blob")
  expect((await cli("export", "claim")).stdout).not.toContain(hash)
  await cli.with({ stdin: claim }, "import", "-", "--id", "trusted", "--any-blobs")
  expect((await cli("export", "trusted", "--self-contained")).stdout).toContain(btoa("secret"))
  await cli.with({ stdin: file({}) }, "import", "-", "--id", "text")
  expect(await cli.json("export", "text", "--out", "t.jsonl")).toMatchObject({ blobs: 0 })
})

test("a blob file with changed bytes is refused", async () => {
  const cli = createCli({ cwd })
  writeFileSync(join(cwd, "pi.jsonl"), `${PI}\n`)
  mkdirSync(join(cwd, "pi.jsonl.blobs"))
  writeFileSync(join(cwd, "pi.jsonl.blobs", "0".repeat(64)), "other bytes")
  expect(await cli("import", "pi.jsonl")).toMatchObject({ exit: 1, stderr: expect.stringMatching(/is damaged/) })
})

test("a long import or copy shows its progress on a terminal and removes the line at the end", async () => {
  let now = 0
  const cli = createCli({ cwd, terminal: 80, now: () => (now += 1000) })
  const shown = (stderr: string): string[] => {
    const [first, ...steps] = stderr.split("\r\u001b[K")
    expect([first, steps.pop()]).toEqual(["", ""])
    return steps
  }
  const imported = shown((await cli.with({ stdin: PI }, "import", "-", "--id", "a")).stderr)
  expect(imported.at(-1)).toMatch(/^importing: 2 lines, \d+ B \(\d+ s\)$/)
  const { stdout, stderr } = await cli("copy", "a", "--to", "mem:other")
  expect(shown(stderr).at(-1)).toMatch(/^copying: 2 lines, \d+ B \(\d+ s\)$/)
  expect(stdout).toMatch(/^copied a to /)
})

test("an export is sanitized on a terminal and unchanged in a pipe", async () => {
  const cli = createCli({ cwd })
  await cli.use(async (sessions) => {
    const session = await sessions.create({ id: "a" })
    await session.append({ type: "message", message: { role: "user", content: "x\u009b2Jy\u001b[1m" } })
    await session.close()
  })
  const control = /[\u001b\u0080-\u009f]/
  expect((await cli("export", "a")).stdout).toContain("\u009b2J")
  const shown = (await cli.with({ terminal: 80 }, "export", "a")).stdout
  expect(shown).not.toMatch(control)
  expect(
    shown
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown),
  ).toHaveLength(2)
  expect((await cli.with({ terminal: 80 }, "export", "a", "--format", "markdown")).stdout).not.toMatch(control)
})

test("migrate keeps the older log, and export --backup prints it", async () => {
  const cli = createCli({ cwd })
  await cli.use(({ storage }) => storage.append("old", PI.split("\n"), { expect: 0 }))
  expect(await cli.json("migrate", "old")).toMatchObject({
    id: "old",
    migrated: true,
    from: { format: "pi", version: 3 },
  })
  expect((await cli("export", "old", "--backup")).stdout).toBe(`${PI}\n`)
  expect((await cli("export", "old")).stdout).toContain('"version":4')
})

test("copy --all copies every session, and again what they got since", async () => {
  const cli = createCli({ cwd })
  await cli.use((sessions) => makeSample(sessions, { id: "a" }))
  await cli.use((sessions) => makeSample(sessions, { id: "b" }))
  const { exit, stdout } = await cli("copy", "--all", "--to", "mem:other")
  expect({ exit, stdout }).toEqual({
    exit: 0,
    stdout: expect.stringMatching(/^copied 2 sessions to .*, 0 not copied\n$/),
  })
  await cli("rename", "b", "newer")
  await cli("copy", "--all", "--to", "mem:other")
  for (const id of ["a", "b"])
    expect((await cli("export", id, "--store", "mem:other")).stdout).toBe((await cli("export", id)).stdout)
})

test("copy --all names each session that it cannot copy, and copies the others", async () => {
  const cli = createCli({ cwd })
  await cli.use((sessions) => makeSample(sessions, { id: "a" }))
  await cli("copy", "a", "--to", "mem:other")
  await cli("rename", "a", "here", "--store", "mem:other")
  await cli("rename", "a", "there")
  await cli.use((sessions) => makeSample(sessions, { id: "b" }))
  const { exit, stdout } = await cli("copy", "--all", "--to", "mem:other")
  expect(exit).toBe(1)
  expect(stdout).toMatch(/^not copied a {2}exists .+\ncopied 1 session to .*, 1 not copied\n$/)
  const json: unknown = JSON.parse((await cli("copy", "--all", "--to", "mem:other", "--json")).stdout)
  expect(json).toMatchObject({ copied: [{ id: "b" }], failed: [{ id: "a", error: { code: "exists" } }] })
})

test("copy needs either an id or --all, and a store", async () => {
  const cli = createCli({ cwd })
  expect((await cli("copy", "--to", "mem:other")).stderr).toBe("sessions: copy needs either an ID or --all.\n")
  expect((await cli("copy", "a", "--all", "--to", "mem:other")).exit).toBe(2)
  expect((await cli("copy", "--all")).exit).toBe(2)
})
