/** The page in a real browser, the engine ENGINE: a hostile log, the policy, links, keys, folds. */
import assert from "node:assert/strict"
import { after, test } from "node:test"
import { createSessions } from "@sessions/core"
import { exportSession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import { type Engine, openBrowser, type Page, serve, type Server } from "../../../../.config/browsers/page.ts"
import { sessionPage } from "../../src/index.ts"
import { hostileSession } from "../hostile.ts"
import { textOf } from "../page-data.ts"
import { sampleSession, type SampleSession } from "../sample.ts"

const engine = (process.env["ENGINE"] ?? "chromium") as Engine

interface Opened {
  readonly page: Page
  readonly server: Server
  readonly sample: SampleSession
  readonly hostile: number
}

let opened: Promise<Opened> | undefined
after(async () => {
  const { page, server } = (await opened) ?? {}
  await page?.close()
  await server?.close()
})

function open(): Promise<Opened> {
  return (opened ??= start())
}

async function start(): Promise<Opened> {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage })
  const sample = await sampleSession(sessions)
  const lines = (await textOf(exportSession(sessions, sample.id))).trimEnd().split("\n")
  const hostile = await hostileSession(storage, "hostile", lines)
  const odd = await sessions.create({ id: "odd", title: "turned \u202egnp.exe" })
  await odd.append([
    { type: "message", message: { role: "user", content: "a text \u202ethat is turned" } },
    {
      type: "message",
      message: {
        role: "assistant",
        content: [
          { type: "text", text: "`rm \u202efr-`\n\n```sh\nrm \u2066-rf\n```" },
          { type: "toolCall", id: "c", name: "bash", arguments: { command: "rm \u202e/ fr-" } },
        ],
      },
    },
    // A line of megabytes without a blank, and a text that would be slow as Markdown.
    { type: "message", message: { role: "user", content: "x".repeat(3_000_000) } },
    { type: "message", message: { role: "assistant", content: "[".repeat(190_000) } },
  ])
  await odd.close()
  const server = await serve({
    "/odd": await textOf(sessionPage(sessions, "odd")),
    "/sample": await textOf(sessionPage(sessions, sample.id, { subagents: true })),
    "/hostile": await textOf(sessionPage(sessions, "hostile")),
  })
  return { page: await openBrowser(engine), server, sample, hostile }
}

/** Opens the page at a fragment and waits for its content. */
async function goTo(path: string, hash: string): Promise<Page> {
  const { page, server } = await open()
  // Another document in between: a change of the fragment alone would not load the page again.
  await page.open(`${server.url}empty/`)
  await page.open(`${server.url}${path}${hash}`)
  await until(page, `document.querySelector("main h2, main article, main .notice") !== null`)
  return page
}

async function until(page: Page, condition: string): Promise<void> {
  while ((await page.evaluate(`return ${condition}`)) !== true) await new Promise((resolve) => setTimeout(resolve, 20))
}

function press(page: Page, key: string): Promise<unknown> {
  return page.evaluate(
    `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", bubbles: true, cancelable: true }))`,
  )
}

/** Unfolds everything, shows all raw lines, and all entries of a long conversation or tree. */
const UNFOLD = `
  for (let round = 0; round < 40; round++) {
    const more = [...document.querySelectorAll("button.more")]
    if (more.length === 0) break
    for (const button of more) button.click()
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  for (const fold of document.querySelectorAll("details")) fold.open = true
  for (const raw of document.querySelectorAll("article header button[aria-expanded=false]")) raw.click()
  await new Promise((resolve) => setTimeout(resolve, 100))`

/** What a log could have brought into the page. */
const FINDINGS = `
  const found = []
  if (window.ran !== undefined) found.push("something ran")
  for (const element of document.querySelectorAll("*")) {
    const name = element.localName
    const data = element.matches('script[type="application/json"]')
    if (["iframe", "object", "embed", "base", "svg", "math", "template"].includes(name)) found.push(name)
    if (name === "script" && !data && element !== document.body.lastElementChild) found.push("script")
    if (["style", "link", "meta", "title"].includes(name) && element.parentElement !== document.head) found.push(name)
    if (name === "form" && element.getAttribute("role") !== "search") found.push("form")
    if (name === "img" && !/^data:image\\/(png|jpeg|gif|webp|avif|bmp);base64,[A-Za-z0-9+\\/=\\s]*$/.test(element.getAttribute("src"))) found.push("img " + element.getAttribute("src"))
    if (name === "a" && !/^(#|https?:|mailto:)/.test(element.getAttribute("href"))) found.push("href " + element.getAttribute("href"))
    for (const { name } of element.attributes) if (name.startsWith("on") || name === "style") found.push(name)
  }
  for (const { name } of performance.getEntriesByType("resource")) if (!name.startsWith("data:") && !name.endsWith("/favicon.ico")) found.push("loaded " + name)
  return found`

for (const tab of ["conversation", "tree", "compare", "context", "usage", "compactions", "diagnostics", "details"]) {
  void test(`${engine}: no field of a hostile log runs, loads or links anything: ${tab}`, async () => {
    const { hostile } = await open()
    const page = await goTo("hostile", `#!${tab}`)
    await page.evaluate(UNFOLD)
    assert.deepEqual(await page.evaluate(FINDINGS), [])
    if (tab !== "conversation") return
    const shown = Number(await page.evaluate(`return document.querySelectorAll("article").length`))
    assert.ok(shown > hostile / 2, `${shown} of ${hostile} entries are shown`)
  })
}

void test(`${engine}: words of a hostile log are found, and run nothing`, async () => {
  const page = await goTo("hostile", "#")
  await page.evaluate(`
    const field = document.querySelector("input[type=search]")
    field.value = "window.ran"
    field.dispatchEvent(new Event("input", { bubbles: true }))`)
  await until(page, `document.querySelectorAll("main .entries li").length > 100`)
  assert.deepEqual(await page.evaluate(FINDINGS), [])
})

void test(`${engine}: the policy holds: a script, a handler, a style and an image from elsewhere are refused`, async () => {
  const page = await goTo("sample", "#")
  const refused = await page.evaluate(`
    const picture = document.createElement("img")
    // Only this attempt is refused later; if it is asked for instead, its end comes without a violation.
    const image = new Promise((resolve) => {
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => effectiveDirective === "img-src" && resolve(true))
      for (const end of ["load", "error"]) picture.addEventListener(end, () => setTimeout(resolve, 1_000, false))
    })
    const attempt = (work) => { try { work() } catch {} }
    attempt(() => { const element = document.createElement("script"); element.text = "window.ran = 1"; document.body.append(element) })
    attempt(() => { document.body.setAttribute("onclick", "window.ran = 1"); document.body.click() })
    attempt(() => { const element = document.createElement("style"); element.textContent = "body { color: red }"; document.head.append(element) })
    attempt(() => { picture.src = "/x.png"; document.body.append(picture) })
    return { image: await image, ran: window.ran ?? null, red: getComputedStyle(document.body).color === "rgb(255, 0, 0)" }`)
  assert.deepEqual(refused, { ran: null, red: false, image: true })
})

void test(`${engine}: the address of an entry shows its branch, unfolds what it is in, and marks it`, async () => {
  const { sample } = await open()
  const { left, result, compaction } = sample.ids
  for (const [id, text] of [
    [left, "Remove it everywhere."],
    [result, "process.env.FLAG"],
    [compaction, "The user looks for"],
  ] as const) {
    const page = await goTo("sample", `#${id}`)
    await until(page, `document.activeElement?.matches("article.target") === true`)
    const state = (await page.evaluate(`
      const target = document.querySelector("article.target")
      const folds = []
      for (let outer = target.parentElement; outer; outer = outer.parentElement) if (outer.localName === "details") folds.push(outer.open)
      return { text: target.textContent, folded: folds.includes(false), other: document.querySelector(".conversation .notice") !== null }`)) as {
      text: string
      folded: boolean
      other: boolean
    }
    assert.ok(state.text.includes(text), state.text)
    assert.equal(state.folded, false)
    assert.equal(state.other, id === left)
  }
  const page = await goTo("sample", "#no-such-entry")
  await until(page, `document.querySelector(".notice")?.textContent.includes("no-such-entry") === true`)
})

void test(`${engine}: keys move between entries, to the views and to the search field`, async () => {
  const page = await goTo("sample", "#")
  await page.evaluate(`scrollTo(0, 0)`)
  await press(page, "j")
  await press(page, "j")
  const current = (): Promise<unknown> =>
    page.evaluate(`return [...document.querySelectorAll("article")].indexOf(document.activeElement)`)
  assert.equal(await current(), 1)
  await press(page, "k")
  assert.equal(await current(), 0)
  await press(page, "4")
  await until(page, `document.querySelector("main h2")?.textContent === "Context"`)
  await press(page, "/")
  assert.equal(await page.evaluate(`return document.activeElement.type`), "search")
})

void test(`${engine}: the conversation of a file opens at its beginning, and j goes down from there; another view opens at its top`, async () => {
  const page = await goTo("sample", "#")
  const state = (): Promise<unknown> =>
    page.evaluate(`
      const cards = [...document.querySelectorAll("main > .conversation > article")]
      return { top: scrollY, first: cards[0] === document.activeElement,
        older: [...document.querySelectorAll("button.more")].some(({ textContent }) => textContent.includes("older")) }`)
  await until(
    page,
    `document.querySelector("main > .conversation > article") !== null && [...document.images].every(({ complete }) => complete)`,
  )
  assert.deepEqual(await state(), { top: 0, first: false, older: false })
  await press(page, "j")
  assert.equal(((await state()) as { first: boolean }).first, true)
  await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight)`)
  await press(page, "2")
  await until(
    page,
    `document.querySelector(".conversation") === null && document.querySelector("main h2") !== null && scrollY === 0`,
  )
})

void test(`${engine}: j and k go over what is inside of a closed fold, also at the end of the list`, async () => {
  const page = await goTo("sample", "#")
  // The result of a call is an entry inside of a fold.
  const CARDS = `
    const fold = [...document.querySelectorAll("details.call")].find((one) => one.querySelector("article") !== null)
    const outer = fold.closest("main > .conversation > article")
    const next = outer.nextElementSibling`
  assert.equal(
    await page.evaluate(`${CARDS}; next.focus(); return fold.open || document.activeElement !== next`),
    false,
  )
  await press(page, "k")
  assert.equal(await page.evaluate(`${CARDS}; return document.activeElement === outer`), true)
  await press(page, "j")
  assert.equal(await page.evaluate(`${CARDS}; return document.activeElement === next`), true)
  await page.evaluate(`${CARDS}; while (outer.nextSibling !== null) outer.nextSibling.remove()`)
  await page.evaluate(`document.activeElement.blur(); scrollTo(0, document.documentElement.scrollHeight)`)
  await press(page, "k")
  assert.equal(await page.evaluate(`${CARDS}; return document.activeElement === outer`), true)
})

void test(`${engine}: a subagent's session unfolds where it ran, and has addresses of its own`, async () => {
  const page = await goTo("sample", "#")
  await page.evaluate(`document.querySelector("details.subagent").open = true`)
  await until(page, `document.querySelector("details.subagent article") !== null`)
  const link = String(await page.evaluate(`return document.querySelector("details.subagent article .anchor").hash`))
  assert.match(link, /^#@sample-agent\//)
  const own = await goTo("sample", link)
  await until(own, `document.querySelector("h1")?.textContent === "Look at the tests"`)
})

void test(`${engine}: two branches are compared: the common part folded, what each has alone, edits of common entries, a link, keys`, async () => {
  const { sample } = await open()
  const { left, last, answer, question } = sample.ids
  const page = await goTo("sample", `#!compare/${last}/${left}`)
  await until(page, `document.querySelectorAll(".sides > section article").length > 3`)
  const state = (await page.evaluate(`
    const [one, other] = [...document.querySelectorAll(".sides > section")].map((side) => side.textContent)
    return { one, other, folded: !document.querySelector("details.common").open, common: document.querySelector("details.common summary").textContent,
      changed: [...document.querySelectorAll(".changed > li")].map((li) => li.textContent) }`)) as {
    one: string
    other: string
    folded: boolean
    common: string
    changed: string[]
  }
  assert.ok(state.folded && state.common.includes("6 entries"), state.common)
  assert.ok(state.one.includes("Here is a picture") && !state.one.includes("Remove it everywhere."))
  assert.ok(state.other.includes("Remove it everywhere.") && !state.other.includes("Here is a picture"))
  assert.equal(state.changed.length, 2)
  assert.match(state.changed.join(" "), /Where is the flag set\?.*left: Edit.*left: Label found/)
  await page.evaluate(`document.querySelector("details.common").open = true`)
  await until(page, `document.querySelectorAll("details.common article").length > 2`)
  // Another choice is another address; a choice that is no end of a branch stays one.
  await page.evaluate(`location.hash = "#!compare/${answer}/${question}"`)
  await until(page, `document.querySelectorAll(".sides h3")[1]?.textContent === "Right: nothing after the common part"`)
  await page.evaluate(`
    const select = document.querySelectorAll(".choices select")[1]
    select.value = "${left}"
    select.dispatchEvent(new Event("change", { bubbles: true }))`)
  await until(page, `location.hash === "#!compare/${answer}/${left}"`)
  await page.evaluate(`
    document.querySelector("select").focus()
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "1", bubbles: true, cancelable: true }))`)
  assert.equal(await page.evaluate(`return location.hash`), `#!compare/${answer}/${left}`)
  await goTo("sample", "#!compare/none/none")
  await until(page, `document.querySelector(".notice")?.textContent.includes("no entry none") === true`)
})

void test(`${engine}: characters that turn or hide others are shown by their numbers in commands, code and stored lines; long texts are folded`, async () => {
  const page = await goTo("odd", "#")
  await until(page, `document.querySelectorAll("article").length === 4`)
  await page.evaluate(`
    for (const fold of document.querySelectorAll("details.call")) fold.open = true
    for (const button of [...document.querySelectorAll("article header button")].slice(0, 2)) button.click()`)
  const named = `[...document.querySelectorAll(".unseen")].map(({ textContent }) => textContent)`
  await until(page, `${named}.filter((name) => name === "U+202E").length >= 4 && ${named}.includes("U+2066")`)
  const found = (await page.evaluate(`
    const texts = [...document.querySelectorAll("pre, code, .args")].map(({ textContent }) => textContent)
    return {
      turned: texts.filter((text) => /[\u202e\u2066]/.test(text)).length,
      isolated: getComputedStyle(document.querySelector("h1")).unicodeBidi,
      units: document.getElementById("inspector").textContent.length,
    }`)) as { turned: number; isolated: string; units: number }
  assert.equal(found.turned, 0)
  assert.equal(found.isolated, "isolate")
  assert.ok(found.units < 100_000, `${found.units} characters are laid out`)
  await page.evaluate(`[...document.querySelectorAll("article.user details.fold")].at(-1).open = true`)
  await until(page, `document.getElementById("inspector").textContent.length > 3_000_000`)
})
