/** What a page can do that cannot load anything any more: it is offline, or its files were replaced by a newer version's. */
import assert from "node:assert/strict"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { type Engine, openBrowser, type Page, serve } from "../../../../.config/browsers/page.ts"

const engine = (process.env["ENGINE"] ?? "chromium") as Engine

const PROGRAM = `
import { createSessions } from "@sessions/core"
import { createIndexedDbStorage } from "@sessions/idb"
const open = (change = (storage) => storage) =>
  createSessions({ storage: change(createIndexedDbStorage({ database: "rooms" })) })
const say = (role, text, more) => ({ type: "message", message: { role, content: [{ type: "text", text }, ...(more ?? [])] } })
const codeOf = (work) => work.then(() => "none", ({ code, message }) => code + ": " + message)
const texts = (context) => context.messages.map(({ message }) => message.content.map(({ type, text }) => text ?? type).join("+"))
/** A storage that writes the next batch, and whose answer is lost. */
const losing = (storage) => {
  let lost = false
  const append = async (...args) => {
    const head = await storage.append(...args)
    if (lost || args[1].length < 1 || args[2].expect === 0) return head
    lost = true
    throw Object.assign(new Error("The answer was lost."), { code: "indeterminate" })
  }
  return new Proxy(storage, {
    get: (target, key) => {
      const value = key === "append" ? append : target[key]
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}
Object.assign(globalThis, { open, say, codeOf, texts, losing })
`

void test(`${engine}: sessions as they should be are made, opened, appended to, read and listed with what was loaded at once`, async () => {
  await inPage(async (page) => {
    const seen = await page.evaluate(`
      const sessions = open()
      const made = await sessions.create({ id: "plain", title: "Plain", cwd: "/p" })
      await made.append(say("user", "one"))
      await made.append([say("assistant", "two"), say("user", "three")])
      await made.turn((turn) => turn.append(say("assistant", "four")))
      const before = texts(await made.context())
      await made.close()
      const again = await sessions.open("plain")
      await again.append(say("user", "five"))
      const after = texts(await again.context({ window: 100000 }))
      const { sessions: listed, unreadable } = await sessions.list()
      await sessions.close()
      const other = open()
      const anew = texts(await (await other.open("plain")).context())
      await other.close()
      return JSON.stringify({ before, after, anew, listed: listed.map(({ title, messageCount }) => [title, messageCount]), unreadable })
    `)
    assert.deepEqual(JSON.parse(String(seen)), {
      before: ["one", "two", "three", "four"],
      after: ["one", "two", "three", "four", "five"],
      anew: ["one", "two", "three", "four", "five"],
      listed: [["Plain", 5]],
      unreadable: [],
    })
  })
})

void test(`${engine}: what needs more says that it cannot be loaded, loses nothing that is stored, and works when it can be`, async () => {
  await inPage(async (page, doors) => {
    const shut = await page.evaluate(`
      const [ours, theirs, losers] = [open(), open(), open(losing)]
      const one = await ours.create({ id: "shut" })
      await one.append(say("user", "one"))
      const two = await theirs.open("shut")
      await two.append(say("assistant", "two", [{ type: "toolCall", id: "c", name: "ls", arguments: {} }]))
      // Refused by the storage, and only who looks at the log can say what to do.
      const conflict = await codeOf(one.append(say("user", "three")))
      const repair = await codeOf(two.context())
      const history = await codeOf(two.tree())
      const image = await codeOf(two.append(say("user", "too large", [{ type: "image", mimeType: "image/png", data: "A".repeat(4e6) }])))
      const unknown = await losers.create({ id: "unknown" })
      const lost = await codeOf(unknown.append(say("user", "told")))
      const behind = await codeOf(unknown.append(say("user", "behind")))
      Object.assign(globalThis, { one, two, unknown })
      return JSON.stringify({ conflict, repair, history, image, lost, behind })
    `)
    const said = JSON.parse(String(shut)) as Record<string, string>
    for (const key of ["conflict", "repair", "history", "image"]) {
      assert.match(
        said[key] ?? "",
        /^unavailable: The code for .* could not be loaded, and nothing was changed: .*load the page anew/,
      )
    }
    assert.match(said["lost"] ?? "", /^indeterminate: /)
    assert.match(said["behind"] ?? "", /^unavailable: Nothing of this was written/)

    doors.open()
    // An engine that keeps in mind that a file was not there forgets it with the page; what it knew of one that was lost goes along.
    const anew = engine !== "chromium"
    if (anew) await doors.reload()
    const opened = await page.evaluate(`
      ${
        anew
          ? 'const sessions = open(); const two = await sessions.open("shut"); const one = await open().open("shut"); const unknown = await sessions.open("unknown")'
          : "await unknown.flush()"
      }
      await two.append({ type: "message", message: { role: "toolResult", toolCallId: "c", toolName: "ls", isError: false, content: [{ type: "text", text: "files" }] } })
      // The other writer's lines are met again, and it is known now what to do.
      await one.append(say("user", "three"))
      await unknown.append(say("user", "after"))
      const inLog = []
      for await (const { message } of (await open().open("shut")).entries()) inLog.push(message.content[0].text)
      const { messages } = await two.messages()
      return JSON.stringify({
        inLog,
        context: texts(await two.context()),
        messages: messages.map(({ message }) => message.content[0].text),
        unknown: texts(await unknown.context()),
      })
    `)
    assert.deepEqual(JSON.parse(String(opened)), {
      inLog: ["one", "two", "files", "three"],
      context: ["one", "two+toolCall", "files"],
      messages: ["one", "two", "files"],
      unknown: ["told", "after"],
    })
  })
})

interface Doors {
  /** From now on there is all that a page may load. */
  open(): void
  reload(): Promise<void>
}

/** A page of which only that is there which it loads at once. */
async function inPage(work: (page: Page, doors: Doors) => Promise<void>): Promise<void> {
  const { atOnce, later } = await bundled()
  const files: Record<string, string> = {
    "/": '<!doctype html><meta charset="utf-8"><title>rooms</title><script type="module" src="/page.js"></script>',
    ...atOnce,
  }
  const server = await serve(files)
  const page = await openBrowser(engine)
  const load = async (): Promise<void> => {
    await page.open(server.url)
    await page.evaluate(
      "while (!globalThis.open || !globalThis.codeOf) await new Promise((resolve) => setTimeout(resolve, 10))",
    )
  }
  try {
    await load()
    await work(page, { open: () => void Object.assign(files, later), reload: load })
  } finally {
    await page.close()
    await server.close()
  }
}

type Files = Record<string, string>

async function bundled(): Promise<{ readonly atOnce: Files; readonly later: Files }> {
  const build = await rolldown({
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    input: { page: "program" },
    platform: "browser",
    resolve: { conditionNames: ["source", "import", "default"] },
    plugins: [
      {
        name: "program",
        resolveId: (id) => (id === "program" ? fileURLToPath(new URL("program.js", import.meta.url)) : undefined),
        load: (id) => (id.endsWith("program.js") ? PROGRAM : undefined),
      },
    ],
  })
  const { output } = await build.generate({ format: "esm", entryFileNames: "[name].js" })
  await build.close()
  const chunks = output.filter((file) => file.type === "chunk")
  const reached = new Set<string>()
  const visit = (name: string): void => {
    if (reached.has(name)) return
    reached.add(name)
    for (const next of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) visit(next)
  }
  visit("page.js")
  assert.ok(reached.size < chunks.length, "nothing is loaded later")
  const filesOf = (wanted: boolean): Files =>
    Object.fromEntries(
      chunks
        .filter(({ fileName }) => reached.has(fileName) === wanted)
        .map(({ fileName, code }) => [`/${fileName}`, code]),
    )
  return { atOnce: filesOf(true), later: filesOf(false) }
}
