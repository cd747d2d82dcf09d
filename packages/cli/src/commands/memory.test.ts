import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { type Cli, createCli } from "../../test/harness.ts"

const NOW = Date.parse("2026-11-22T12:00:00.000Z")
const LINE = "- [preference] Uses tabs (confidence 0.9, 2026-11-22)"

let folder: string
let cli: Cli

/** Six sessions of a folder, and one of another. */
beforeEach(async () => {
  folder = fs.mkdtempSync(join(tmpdir(), "sessions-memory-"))
  cli = createCli({ env: { PATH: process.env["PATH"] ?? "" }, cwd: folder, now: () => NOW })
  await cli.use(async (sessions) => {
    for (const id of ["s0", "s1", "s2", "s3", "s4", "s5", "other"]) {
      const session = await sessions.create({ id, title: `title of ${id}`, cwd: id === "other" ? "/other" : folder })
      await session.append([
        { type: "message", message: { role: "user", content: `tabs please, in ${id}` } },
        { type: "message", message: { role: "assistant", content: "yes" } },
      ])
    }
  })
})

afterEach(() => fs.rmSync(folder, { recursive: true }))

/** A shell command that keeps its input in a file of this name and prints the text. */
function program(name: string, output: string): string {
  const path = join(folder, name)
  fs.writeFileSync(`${path}.out`, output)
  return `cat >> '${path}.in'; cat '${path}.out'`
}

function model(...facts: readonly object[]): string {
  return program("model", JSON.stringify(facts))
}

const TABS = { category: "UserPreference", fact: "Uses tabs", confidence: 0.9 }

test("extract asks the model, and writes facts to the memory of the session's folder", async () => {
  const done = await cli.json("memory", "extract", "s0", "--model", model(TABS, { ...TABS, category: "x" }))
  expect(done).toMatchObject({ id: "s0", scope: folder, facts: [TABS], known: 0, dropped: [{ reason: /category/ }] })
  expect(fs.readFileSync(join(folder, "model.in"), "utf8")).toContain("[User]: tabs please, in s0")
  expect(await cli.json("memory", "show")).toEqual({
    scope: folder,
    files: [{ name: "MEMORY.md", text: `## Auto-extracted memories\n\n${LINE}\n` }],
  })
  expect((await cli("memory", "show")).stdout).toBe(`MEMORY.md\n## Auto-extracted memories\n\n${LINE}\n\n`)
  expect((await cli("memory", "extract", "s0", "--model", model(TABS))).stdout).toMatch(/no messages since the last/)
  expect((await cli("memory", "extract", "s1", "--model", model(TABS))).stdout).toBe(
    "0 facts from s1, 1 known already\n",
  )
})

test("the memory of one folder is not shown for another", async () => {
  await cli.json("memory", "extract", "s0", "--model", model(TABS))
  expect((await cli("memory", "show", "--cwd", "/other")).stdout).toBe("No memory of /other.\n")
  await cli.json("memory", "extract", "other", "--model", model({ ...TABS, fact: "Elsewhere" }))
  expect(JSON.stringify(await cli.json("memory", "show"))).not.toContain("Elsewhere")
})

test("--folder keeps the memory in real files", async () => {
  const memory = join(folder, "memory")
  await cli.json("memory", "extract", "s0", "--folder", "memory", "--model", model(TABS))
  expect(fs.readFileSync(join(memory, "MEMORY.md"), "utf8")).toContain(LINE)
  expect((await cli("memory", "show", "--folder", "memory")).stdout).toContain(LINE)
  expect((await cli("memory", "show")).stdout).toMatch(/^No memory/)
})

test("a model that fails writes nothing", async () => {
  for (const [command, error] of [
    ["echo overloaded >&2; exit 3", /exited with status 3: overloaded/],
    ["echo no", /no JSON array/],
    ["echo '[{'", /has no end/],
  ] as const) {
    const { exit, stdout, stderr } = await cli("memory", "extract", "s0", "--model", command)
    expect({ exit, stdout }, command).toEqual({ exit: 1, stdout: "" })
    expect(stderr).toMatch(error)
  }
  expect((await cli("memory", "show")).stdout).toMatch(/^No memory/)
})

const TIDY = JSON.stringify({
  write: [
    { name: "MEMORY.md", text: "- [Style](style.md) - tabs\n" },
    { name: "style.md", text: "Uses tabs.\n" },
  ],
  notes: "noted",
})

test("consolidate runs the agent with one JSON object for each phase, and writes what it answers", async () => {
  await cli.json("memory", "extract", "s0", "--model", model(TABS))
  const done = await cli.json("memory", "consolidate", "--agent", program("agent", TIDY), "--force")
  expect(done).toMatchObject({
    scope: folder,
    sessions: expect.any(Number),
    written: ["MEMORY.md", "style.md"],
    deleted: [],
  })
  const requests = fs
    .readFileSync(join(folder, "agent.in"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as never)
  expect(requests).toMatchObject([
    { phase: "orient", prompt: expect.stringContaining("first of four"), files: [{ name: "MEMORY.md" }] },
    {
      phase: "gather",
      prompt: expect.stringContaining('<notes phase="orient">\nnoted'),
      files: [{}, { name: "style.md" }],
    },
    { phase: "consolidate" },
    { phase: "prune" },
  ])
  const { sessions } = requests[0] as unknown as { sessions: Record<string, string>[] }
  expect(new Set(sessions.map(({ id }) => id))).toEqual(new Set(["s0", "s1", "s2", "s3", "s4", "s5"]))
  expect(sessions.find(({ id }) => id === "s0")).toEqual({
    id: "s0",
    title: "title of s0",
    at: expect.stringMatching(/Z$/),
    text: expect.stringMatching(/^\[\d{4}-.*Z\]\n\[User\]: tabs please, in s0\n\n\[.*Z\]\n\[Assistant\]: yes$/),
  })
  expect((await cli("memory", "show")).stdout).toContain("Uses tabs.")
  expect((await cli("memory", "consolidate", "--agent", program("agent", TIDY))).stdout).toMatch(
    /less than 24 hours ago/,
  )
})

test("consolidate --dry-run runs the agent and changes nothing", async () => {
  const agent = program("agent", TIDY)
  const { stdout } = await cli("memory", "consolidate", "--agent", agent, "--dry-run", "--force")
  expect(stdout).toBe(
    "MEMORY.md\n- [Style](style.md) - tabs\n\nstyle.md\nUses tabs.\n\nwrite MEMORY.md\nwrite style.md\n6 sessions reviewed\n",
  )
  const json = await cli.json("memory", "consolidate", "--agent", agent, "--dry-run", "--force")
  expect(json).toMatchObject({ changes: [{ name: "MEMORY.md" }, { name: "style.md", text: "Uses tabs.\n" }] })
  expect((await cli("memory", "show")).stdout).toMatch(/^No memory/)
  expect(await cli.json("memory", "consolidate", "--agent", agent, "--force")).toMatchObject({
    written: ["MEMORY.md", "style.md"],
  })
})

test("an answer of the agent that cannot be used, and a memory that it leaves wrong, are errors", async () => {
  for (const [answer, error] of [
    ["no", /it is no JSON/],
    ["[]", /it is no object/],
    ['{"files": []}', /it has a field "files"/],
    ['{"write": [{"name": "a.md"}]}', /`write` is no list/],
    ['{"delete": "a.md"}', /`delete` is no list/],
    ['{"write": [{"name": "../a.md", "text": ""}]}', /no name of a memory file/],
    ['{"delete": ["none.md"]}', /none\.md was not read, or does not exist/],
    ['{"write": [{"name": "MEMORY.md", "text": "[x](none.md)"}]}', /links to none\.md/],
  ] as const) {
    const { exit, stderr } = await cli("memory", "consolidate", "--force", "--agent", program("agent", answer))
    expect({ answer, exit }).toEqual({ answer, exit: 1 })
    expect(stderr).toMatch(error)
  }
})

test("clear removes the extracted facts, --all everything", async () => {
  const memory = join(folder, "memory")
  fs.mkdirSync(memory)
  fs.writeFileSync(join(memory, "MEMORY.md"), "# By hand\n")
  await cli.json("memory", "extract", "s0", "--folder", "memory", "--model", model(TABS))
  expect((await cli("memory", "clear", "--folder", "memory")).stdout).toBe(`removed 1 fact of ${folder}\n`)
  expect(fs.readFileSync(join(memory, "MEMORY.md"), "utf8")).toBe("# By hand\n\n")
  expect(await cli.json("memory", "clear", "--all", "--yes", "--folder", "memory")).toEqual({
    scope: folder,
    facts: 0,
    files: ["MEMORY.md"],
  })
})

test("clear --all asks on a terminal, and deletes nothing unless the answer is yes", async () => {
  await cli.json("memory", "extract", "s0", "--model", model(TABS))
  const refused = await cli.with({ terminal: 80, stdin: "n\n" }, "memory", "clear", "--all")
  expect(refused).toMatchObject({ exit: 1, stderr: expect.stringContaining("nothing was deleted") as string })
  expect((await cli("memory", "show")).stdout).toContain(LINE)
  const done = await cli.with({ terminal: 80, stdin: "yes\n" }, "memory", "clear", "--all")
  expect(done.stdout).toContain(`deleted 1 file of ${folder}`)
})

test("wrong actions, arguments and options are usage errors", async () => {
  for (const wrong of [
    [],
    ["forget"],
    ["toString"],
    ["extract"],
    ["extract", "s0"],
    ["extract", "s0", "--model", " "],
    ["extract", "s0", "--model", "cat", "--timeout", "0"],
    ["extract", "s0", "--model", "cat", "--all"],
    ["show", "s0"],
    ["show", "--model", "cat"],
    ["consolidate"],
    ["clear", "--force"],
    ["clear", "--all"],
    ["clear", "--all", "--json"],
  ]) {
    expect((await cli("memory", ...wrong)).exit, wrong.join(" ")).toBe(2)
  }
})
