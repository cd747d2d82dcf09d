/** `sessions serve` in a real browser, the engine ENGINE: the token, the list, a session from its end, its tree, words, a hostile log. */
import assert from "node:assert/strict"
import { after, test } from "node:test"
import { createSessions, type NewEntry } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { type Engine, openBrowser, type Page } from "../../../../.config/browsers/page.ts"
import { run } from "../../src/index.ts"
import { captured } from "../harness.ts"

const engine = (process.env["ENGINE"] ?? "chromium") as Engine
const ATTACK = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>[a](javascript:window.ran=1)`
const MESSAGES = 300

interface Opened {
  readonly page: Page
  /** With the token. */
  readonly url: string
  readonly ids: readonly string[]
  readonly stop: () => Promise<void>
}

let opened: Promise<Opened> | undefined
after(async () => (await opened)?.stop())

function open(): Promise<Opened> {
  return (opened ??= start())
}

async function start(): Promise<Opened> {
  const location = createMemoryLocation()
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const session = await sessions.create({ id: "long", title: "A long session" })
  const entries = Array.from(
    { length: MESSAGES },
    (_, n): NewEntry => ({
      type: "message",
      message: { role: n % 2 === 0 ? "user" : "assistant", content: `message number ${n}` },
    }),
  )
  const { ids } = await session.append(entries)
  await session.close()
  const hostile = await sessions.create({ id: "hostile", title: ATTACK, cwd: ATTACK })
  await hostile.append({ type: "message", message: { role: "user", content: ATTACK } })
  await hostile.close()
  const page = await openBrowser(engine)
  const { url, stop } = await serve(location)
  return {
    page,
    url,
    ids,
    async stop() {
      await page.close()
      await stop()
    },
  }
}

async function serve(
  location: ReturnType<typeof createMemoryLocation>,
  ...options: string[]
): Promise<Pick<Opened, "url" | "stop">> {
  const stop = new AbortController()
  const { io } = captured({})
  let ended: Promise<number> | undefined
  const url = await new Promise<string>((resolve) => {
    const stdout = { ...io.stdout, write: async (text: string) => resolve(text.trim()) }
    const store = (): ReturnType<typeof createMemoryStorage> => createMemoryStorage({ location })
    ended = run(["serve", "--store", "mem:", ...options], { ...io, stdout, signal: stop.signal }, { mem: store })
  })
  return {
    url,
    async stop() {
      stop.abort()
      await ended
    },
  }
}

async function until(page: Page, condition: string): Promise<void> {
  while ((await page.evaluate(`return ${condition}`)) !== true) await new Promise((resolve) => setTimeout(resolve, 20))
}

const type = (label: string, text: string): string => `
  const field = document.querySelector("input[aria-label='${label}']")
  field.value = ${JSON.stringify(text)}
  field.dispatchEvent(new Event("input", { bubbles: true }))`

/** Its first test opens the address with the token, which the tab keeps. */
void test(`${engine}: without the token there is a form and no data; with it the sessions are listed, and the token leaves the address`, async () => {
  const { page, url } = await open()
  await page.open(url.replace(/#.*/, ""))
  await until(page, `document.querySelector("form.token") !== null`)
  assert.equal(
    await page.evaluate(`return document.getElementById("inspector").textContent.includes("A long session")`),
    false,
  )
  await page.evaluate(`
    const field = document.querySelector("form.token input")
    field.value = "a wrong token of some length"
    field.dispatchEvent(new Event("input", { bubbles: true }))
    await new Promise((resolve) => setTimeout(resolve, 50))
    document.querySelector("form.token button").click()
    await new Promise((resolve) => setTimeout(resolve, 50))`)
  await until(page, `document.querySelector("form.token") !== null`)
  await page.open("about:blank")
  await page.open(url)
  await until(page, `document.querySelectorAll("main .entries li").length === 2`)
  assert.equal(await page.evaluate(`return location.href.includes("token")`), false)
})

void test(`${engine}: a session shows its end, then all of it; an address finds an entry at its start`, async () => {
  const { page, ids } = await open()
  await page.evaluate(`location.hash = "#@long/!conversation"`)
  await until(
    page,
    `[...document.querySelectorAll("article")].at(-1)?.textContent.includes("message number ${MESSAGES - 1}") === true`,
  )
  await until(page, `document.querySelector("button.more") !== null`)
  await page.evaluate(`document.querySelector("button.more").click()`)
  await until(page, `document.querySelectorAll("article").length === 120`)
  await page.evaluate(`location.hash = "#@long/${ids[3]}"`)
  await until(
    page,
    `document.activeElement?.matches("article.target") && document.activeElement.textContent.includes("message number 3")`,
  )
  await page.evaluate(`document.querySelector("article.target button").click()`)
  await until(
    page,
    `document.querySelector("article.target .raw pre")?.textContent.includes('"id":"${ids[3]}"') === true`,
  )
})

void test(`${engine}: without --write the page has nothing that changes a session`, async () => {
  const { page } = await open()
  await page.evaluate(`location.hash = "#@long/!conversation"`)
  await until(page, `document.querySelectorAll("article").length > 10`)
  assert.equal(await page.evaluate(`return document.querySelectorAll(".changes, textarea").length`), 0)
})

void test(`${engine}: words are found in a session and in all sessions`, async () => {
  const { page } = await open()
  // As soon as the view is there.
  await page.evaluate(`
    const shown = new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (document.querySelectorAll(".tree .row").length <= 3) return
        observer.disconnect()
        ${type("Find in this session", "NUMBER 7")}
        resolve()
      })
      observer.observe(document.body, { childList: true, subtree: true })
    })
    location.hash = "#@long/!tree"
    await shown`)
  await until(page, `document.querySelector("main [role=status]")?.textContent.startsWith("11 entries") === true`)
  await page.evaluate(`location.hash = "#"`)
  await until(page, `document.querySelector("input[aria-label='Find sessions']") !== null`)
  await page.evaluate(type("Find sessions", "a long"))
  await until(page, `document.querySelectorAll("main .entries li").length === 1`)
})

void test(`${engine}: a hostile session runs nothing, and the page asks its own server alone`, async () => {
  const { page } = await open()
  for (const hash of ["#", "#@hostile/!conversation", "#@hostile/!tree", "#@hostile/!context", "#@hostile/!details"]) {
    await page.evaluate(`location.hash = "${hash}"`)
    await until(
      page,
      `document.querySelector("main h2, main article") !== null && !document.getElementById("inspector").textContent.includes("Reading")`,
    )
    const found = await page.evaluate(`
      const others = performance.getEntriesByType("resource").filter(({ name }) => !name.startsWith(location.origin) && !name.startsWith("data:"))
      return [window.ran ?? null, document.querySelectorAll("img, iframe, #inspector script").length, others.length,
        [...document.querySelectorAll("a")].filter(({ protocol }) => protocol === "javascript:").length]`)
    assert.deepEqual(found, [null, 0, 0, 0])
  }
})

const press = (where: string, label: string): string => `
  const button = [...document.querySelectorAll(${JSON.stringify(where)})].find(({ textContent }) => textContent === ${JSON.stringify(label)})
  if (button === undefined) throw new Error("no button ${label}")
  button.click()`
const fill = (where: string, text: string): string => `
  const field = document.querySelector(${JSON.stringify(where)})
  field.value = ${JSON.stringify(text)}
  field.dispatchEvent(new Event("input", { bubbles: true }))
  await new Promise((resolve) => setTimeout(resolve, 50))
  field.form.requestSubmit()`

/** The last of the file: it opens another server. */
void test(`${engine}: with --write a person renames, labels, edits, leaves out, restores, deletes and continues elsewhere`, async () => {
  const { page } = await open()
  const location = createMemoryLocation()
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const session = await sessions.create({ id: "mine", title: "Old title" })
  await session.append([
    { type: "message", message: { role: "user", content: "a question" } },
    { type: "message", message: { role: "assistant", content: "an answer" } },
    { type: "message", message: { role: "user", content: "a second question" } },
  ])
  await session.close()
  const { url, stop } = await serve(location, "--write")
  try {
    await page.open("about:blank")
    await page.open(url)
    await until(page, `document.querySelectorAll("main .entries li").length === 1`)
    await page.evaluate(`location.hash = "#@mine/!conversation"`)
    const has = (text: string): Promise<void> =>
      until(page, `document.getElementById("inspector").textContent.includes(${JSON.stringify(text)})`)
    await has("a second question")
    await until(page, `document.querySelector(".page-head .changes") !== null`)

    await page.evaluate(`document.querySelector(".page-head .changes").open = true`)
    await until(page, `document.querySelector(".page-head .changes input") !== null`)
    await page.evaluate(fill(".page-head .changes input", "New title"))
    await until(page, `document.querySelector("h1").textContent === "New title"`)

    // Of the answer.
    const card = "article.assistant .changes"
    await page.evaluate(press("article.assistant header button", "change"))
    await until(page, `document.querySelector("${card} textarea") !== null`)
    await page.evaluate(fill(`${card} input`, "good"))
    await until(page, `document.querySelector("article.assistant .badge.label")?.textContent === "good"`)
    await page.evaluate(fill(`${card} textarea`, "another answer"))
    await until(page, `document.querySelector("article.assistant .badge.warn")?.textContent === "edited"`)
    await page.evaluate(press(`${card} button`, "Content of the log again"))
    await until(page, `document.querySelector("article.assistant .badge.warn") === null`)
    await page.evaluate(press(`${card} button`, "Leave out of the context"))
    await until(
      page,
      `document.querySelector("article.assistant .badge.warn")?.textContent === "left out of the context"`,
    )
    await page.evaluate(press(`${card} button`, "Continue from here"))
    await until(page, `!document.querySelector(".conversation").textContent.includes("a second question")`)

    // A deletion asks first.
    await page.evaluate(press(`${card} button`, "Delete the entry…"))
    await until(page, `document.querySelector("${card} .question") !== null`)
    assert.equal(await page.evaluate(`return document.querySelector("article.assistant .badge.bad")`), null)
    await page.evaluate(press(`${card} .question button`, "Delete the entry"))
    await until(page, `document.querySelector("article.assistant .badge.bad")?.textContent === "deleted"`)

    await page.evaluate(press(".page-head .changes button", "Delete the session…"))
    await until(page, `document.querySelector(".page-head .question") !== null`)
    await page.evaluate(press(".page-head .question button", "Delete the session"))
    await has("None.")
    assert.equal(await sessions.storage.head("mine"), undefined)
  } finally {
    await stop()
  }
})
