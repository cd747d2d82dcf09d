import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { makeSample } from "../../test/sample.ts"

const now = (): number => Date.parse("2026-01-02T05:04:05.000Z")

interface Page {
  readonly sessions: readonly { id: string; title?: string; messageCount: number; bytes: number }[]
  readonly next?: string
}

async function cliWith(...sessions: { id: string; cwd?: string; at?: string }[]) {
  const cli = createCli({ now })
  await cli.use(async (store) => {
    for (const one of sessions) await makeSample(store, one)
  })
  return cli
}

test("a line shows the id, the age of the newest message, messages, parts, bytes, and the title or first prompt", async () => {
  const cli = await cliWith({ id: "one" }, { id: "two", at: "2026-01-01T00:00:00.000Z" })
  await cli.use((store) => store.rename("two", "Named"))
  const { exit, stdout, stderr } = await cli("list")
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" })
  const [heading, one, two] = stdout.split("\n")
  expect(heading).toMatch(/^ID +AGE +MESSAGES +PARTS +SIZE +FOLDER +TITLE$/)
  expect(one).toMatch(/^one +2 h +4 +1 +1\.\d kB +\S+ +fix the tests$/)
  expect(two).toMatch(/^two +29 h|^two +1 d +4 +1 +1\.\d kB +\S+ +Named$/)
})

test("an empty store is not an error, and the output names it", async () => {
  const { exit, stdout } = await createCli()("list")
  expect(exit).toBe(0)
  expect(stdout).toMatch(/^No sessions in memory/)
})

test("--cwd lists the sessions of one folder, otherwise all are listed", async () => {
  const cli = await cliWith({ id: "here", cwd: "/project" }, { id: "there", cwd: "/elsewhere" })
  const ids = async (...argv: string[]): Promise<string[]> =>
    ((await cli.json("list", ...argv)) as Page).sessions.map(({ id }) => id).sort()
  expect(await ids()).toEqual(["here", "there"])
  expect(await ids("--cwd", ".")).toEqual(["here"])
  expect(await ids("--cwd", "/elsewhere")).toEqual(["there"])
  expect(await ids("--cwd", "/nowhere")).toEqual([])
})

test("--cursor continues after a page, and --all lists every page", async () => {
  const names = ["a", "b", "c", "d", "e"]
  const cli = await cliWith(...names.map((id, i) => ({ id, at: `2026-01-01T00:00:0${9 - i}.000Z` })))
  const first = (await cli.json("list", "--limit", "2")) as Page
  const second = (await cli.json("list", "--limit", "2", "--cursor", first.next ?? "")) as Page
  expect([...first.sessions, ...second.sessions].map(({ id }) => id)).toEqual(["a", "b", "c", "d"])
  expect((await cli("list", "--limit", "2")).stdout).toContain(`sessions list --limit 2 --cursor ${first.next}`)
  const all = (await cli.json("list", "--all", "--limit", "2")) as Page
  expect(all.sessions.map(({ id }) => id)).toEqual(names)
  expect(all.next).toBeUndefined()
})

test("the kind is shown if a session has one, and --kind lists one kind or the sessions without one", async () => {
  const cli = await cliWith({ id: "mine" })
  expect((await cli("list")).stdout).not.toContain("KIND")
  await cli.use(async (store) => {
    await (await store.create({ id: "graph", kind: "langgraph" })).close()
    await (await store.create({ id: "chat", kind: "ai sdk" })).close()
  })
  const { stdout } = await cli("list")
  expect(stdout).toMatch(/^ID +AGE +MESSAGES +PARTS +SIZE +KIND +FOLDER +TITLE$/m)
  expect(stdout).toMatch(/^graph .* langgraph +- +\(no prompt yet\)$/m)
  expect(stdout).toMatch(/^mine .* - +\S+ +fix the tests$/m)
  const ids = async (...argv: string[]): Promise<string[]> =>
    ((await cli.json("list", ...argv)) as Page).sessions.map(({ id }) => id).sort()
  expect(await ids()).toEqual(["chat", "graph", "mine"])
  expect(await ids("--kind", "langgraph")).toEqual(["graph"])
  expect(await ids("--kind", "ai sdk")).toEqual(["chat"])
  expect(await ids("--kind", "none")).toEqual(["mine"])
  expect((await cli("list", "--kind", "other")).stdout).toMatch(/^No sessions of the kind other in memory/)
  expect(await cli("list", "--kind", "")).toMatchObject({ exit: 2 })
  expect((await cli("show", "graph")).stdout).toMatch(/^kind +langgraph$/m)
})

test("the command for the next page repeats the options of this one", async () => {
  const cli = createCli({ now })
  await cli.use(async (store) => {
    for (const id of ["a", "b"]) await makeSample(store, { id, cwd: "/it's here", kind: "ai sdk" })
  })
  const { stdout } = await cli("list", "--cwd", "/it's here", "--kind", "ai sdk", "--limit", "1", "--store", "mem:")
  expect(stdout).toContain("sessions list --store mem: --cwd '/it'\\''s here' --kind 'ai sdk' --limit 1 --cursor 2026-")
})

test("a log that is not a session is listed as unreadable with the reason, next to the readable sessions", async () => {
  const cli = await cliWith({ id: "one" })
  await cli.use(({ storage }) => storage.append("junk", ["hello"], { expect: 0 }))
  expect((await cli("list")).stdout).toMatch(/^one .*\nunreadable junk: .+\n$/m)
  for (const all of [[], ["--all"]]) {
    const page = (await cli.json("list", ...all)) as unknown as Page & { unreadable: unknown[] }
    expect(page.sessions.map(({ id }) => id)).toEqual(["one"])
    expect(page.unreadable).toEqual([{ id: "junk", code: "not_a_session", message: expect.stringMatching(/./) }])
  }
})

test("escape sequences in a title are sanitized, in text and in JSON", async () => {
  const cli = await cliWith({ id: "one" })
  await cli.use((store) => store.rename("one", "evil\u001b]0;owned\u0007\u009b2J"))
  const { stdout } = await cli.with({ terminal: 200, env: { NO_COLOR: "1" } }, "list")
  expect(stdout).toContain("evil␛]0;owned␇\\u009b2J")
  const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/
  expect(stdout).not.toMatch(control)
  const json = (await cli("list", "--json")).stdout
  expect(json).not.toMatch(control)
  expect((JSON.parse(json) as Page).sessions[0]?.title).toBe("evil\u001b]0;owned\u0007\u009b2J")
})

test("the folder is shown from its end, the home folder as ~, and not for the sessions of one folder", async () => {
  const cli = createCli({ now, env: { HOME: "/home/ann" } })
  const folders = ["/home/ann/app", "/home/anna", `/data/${"deep/".repeat(9)}end`]
  await cli.use(async (store) => {
    for (const [at, cwd] of folders.entries()) await makeSample(store, { id: `s${at}`, cwd })
  })
  const { stdout } = await cli("list")
  for (const shown of [/^s0 .* ~\/app +fix/m, /^s1 .* \/home\/anna +fix/m, /^s2 .* ….{19}\/end +fix/m])
    expect(stdout).toMatch(shown)
  expect((await cli("list", "--cwd", "/home/anna")).stdout).not.toContain("FOLDER")
})

test("a narrow terminal shows the title, and only the other columns that fit beside it", async () => {
  const cli = createCli({ now })
  await cli.use(async (store) => makeSample(store, { id: "01JGN3V6Z4W3A5T1C8Y2K7M9QX", cwd: "/home/ann/projects/app" }))
  const headingAt = async (terminal: number): Promise<string | undefined> =>
    (await cli.with({ terminal, env: { NO_COLOR: "1" } }, "list", "--full")).stdout.split("\n")[0]?.replace(/ +/g, " ")
  expect(await headingAt(60)).toBe("ID AGE TITLE")
  expect(await headingAt(90)).toBe("ID AGE FOLDER TITLE")
  expect(await headingAt(120)).toBe("ID AGE MESSAGES PARTS SIZE FOLDER TITLE")
})

test("on a terminal an id is its shortest unique prefix, which a command takes; a pipe and --full have all of it", async () => {
  const cli = createCli({ now })
  const ids = ["01JGN3V6Z4W3A5T1C8Y2K7M9QX", "01JGN3V6Z4W3B5T1C8Y2K7M9QX", `import.${"a".repeat(37)}`]
  await cli.use(async (store) => {
    for (const id of ids) await makeSample(store, { id })
  })
  const shown = async (terminal: number, ...argv: string[]): Promise<string[]> => {
    const { stdout } = await cli.with({ terminal, env: { NO_COLOR: "1" } }, "list", ...argv)
    return stdout
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split(" ")[0] ?? "")
      .toSorted()
  }
  const short = ["01JGN3V6Z4W3A", "01JGN3V6Z4W3B", "import."]
  expect(await shown(80)).toEqual(short)
  expect(await shown(80, "--full")).toEqual(ids)
  expect((await cli("list")).stdout).toContain(ids[0])
  for (const [place, one] of short.entries())
    expect(await cli.json("show", one)).toMatchObject({ info: { id: ids[place] } })
})

test("lines are cut at the width of the terminal, if it is known", async () => {
  const cli = await cliWith({ id: "one" })
  await cli.use((store) => store.rename("one", "long ".repeat(30)))
  const { stdout } = await cli.with({ terminal: 60, env: { NO_COLOR: "1" } }, "list")
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(60)
  const { stdout: uncut } = await cli.with({ terminal: 0, env: { NO_COLOR: "1" } }, "list")
  expect(uncut).toContain("long long long")
})
