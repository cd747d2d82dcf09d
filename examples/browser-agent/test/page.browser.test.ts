/** The page in Chromium, as a person uses it. Run by Node's own runner: a tab that is reloaded takes a runner inside it along. */
import assert from "node:assert/strict"
import { after, before, describe, test } from "node:test"
import { readFile } from "node:fs/promises"
import { type Browser, chromium, type Page } from "playwright"
import { chromiumOptions } from "../../../.config/browsers/launch.ts"
import { openSite, type Site } from "./site.ts"

let site: Site
let browser: Browser

before(async () => {
  ;[site, browser] = await Promise.all([openSite(), chromium.launch(chromiumOptions)])
})
after(async () => {
  await browser?.close()
  await site?.close()
})

type Open = (hash?: string) => Promise<Page>

/** A browser of its own for each; no page of it may complain on its console, or ask anybody outside of this machine. */
function check(name: string, work: (open: Open) => Promise<void>): void {
  void test(name, async () => {
    const complaints: string[] = []
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(15_000)
    context.on("request", (request) => {
      const { protocol, hostname } = new URL(request.url())
      const here = protocol === "data:" || protocol === "blob:" || (protocol === "http:" && hostname === "127.0.0.1")
      if (!here) complaints.push(`request: ${request.url()}`)
    })
    context.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(`console: ${message.text()}`)
    })
    context.on("weberror", (error) => complaints.push(`error: ${String(error.error())}`))
    try {
      await work(async (hash = "") => {
        const page = await context.newPage()
        await page.goto(`${site.url}${hash}`)
        await page.getByRole("textbox", { name: "Message" }).waitFor()
        return page
      })
    } finally {
      await context.close()
    }
    assert.deepEqual(complaints, [])
  })
}

async function send(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text)
  await page.keyboard.press("Enter")
}

/** A whole turn: the last answer is the one that is expected. */
async function ask(page: Page, text: string, answer: RegExp): Promise<void> {
  await send(page, text)
  await answered(page, answer)
  await ready(page)
}

/** Of the agent, in the log: what it says besides calling tools. */
function answered(page: Page, text: string | RegExp): Promise<void> {
  return page.locator(".line.assistant:not(.live):not(:has(.call))", { hasText: text }).waitFor()
}

/** Does it in the page at the moment when this first stands there, however slow the machine is that drives it. */
function atOnce(page: Page, wanted: { selector: string; text: string }, action: "reload" | "stop"): Promise<void> {
  return page.evaluate(
    ({ wanted, action }) => {
      const observer = new MutationObserver(() => {
        const found = Array.from(document.querySelectorAll(wanted.selector))
        if (!found.some((element) => element.textContent.includes(wanted.text))) return
        observer.disconnect()
        if (action === "reload") location.reload()
        else
          document
            .querySelector<HTMLElement>("main textarea")
            ?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }))
      })
      observer.observe(document.body, { subtree: true, childList: true, characterData: true })
    },
    { wanted, action },
  )
}

function ready(page: Page): Promise<void> {
  return page.getByRole("button", { name: "Send", exact: true }).waitFor()
}

const questions = (page: Page): Promise<string[]> => page.locator(".line.user .body").allTextContents()
const sessionId = (page: Page): string => new URL(page.url()).hash.slice(1)

async function exported(page: Page): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export as a .jsonl file" }).click(),
  ])
  return readFile(await download.path(), "utf8")
}

// They wait for the agent most of the time.
void describe("the page", { concurrency: 4 }, () => {
  check(
    "a reload in the middle of a turn keeps what was acknowledged, says that the turn is unfinished, and goes on",
    async (open) => {
      const page = await open()
      // The first tool has answered, and the next answer is being written.
      await atOnce(page, { selector: ".live", text: "One note" }, "reload")
      await send(page, "How do branches work?")
      await page.getByText("This turn was cut off").waitFor()
      assert.deepEqual(await questions(page), ["How do branches work?"])
      assert.equal(await page.locator(".call", { hasText: "search_notes" }).count(), 1)
      await page.getByRole("button", { name: "Continue" }).click()
      await answered(page, "Looking writes nothing")
      await ready(page)
      assert.deepEqual(await questions(page), ["How do branches work?"])
      assert.equal(await page.locator(".call", { hasText: "search_notes" }).count(), 1)
      assert.equal(await page.getByText("This turn was cut off").count(), 0)
    },
  )

  check("an answer that is stopped is kept as far as it came, and is asked for anew beside it", async (open) => {
    const page = await open()
    await atOnce(page, { selector: ".live", text: "I am a stand-in" }, "stop")
    await send(page, "Tell me a joke")
    await page.getByText("You stopped this answer.").waitFor()
    const kept = await page.locator(".line.assistant:not(.live) .body").last().innerText()
    assert.match(kept, /^I am a stand-in.*Cut off here\.$/s)
    await page.getByRole("button", { name: "Continue" }).click()
    await answered(page, "give the address of one")
    await ready(page)
    await page.getByText("2 of 2").waitFor()
  })

  check("two tabs at once on one session: both turns are kept, and each tab sees the other's", async (open) => {
    const one = await open()
    await ask(one, "How do branches work?", /Looking writes nothing/)
    const two = await open(`#${sessionId(one)}`)
    await answered(two, "Looking writes nothing")
    await Promise.all([send(one, "What is in storage?"), send(two, "Can I export a file?")])
    for (const page of [one, two]) {
      await ready(page)
      const tree = page.getByRole("tree", { name: "Branches" })
      await tree.getByRole("treeitem", { name: "What is in storage?" }).waitFor()
      await tree.getByRole("treeitem", { name: "Can I export a file?" }).waitFor()
    }
    const log = (await exported(one))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, never>)
    const users = log.filter(({ message }) => message?.["role"] === "user")
    assert.equal(users.length, 3)
    // Every answer is whole: each question of the three has its own two calls and their results.
    assert.equal(log.filter(({ message }) => message?.["role"] === "toolResult").length, 6)
  })

  check("what one tab says appears in the other, which says nothing itself", async (open) => {
    const one = await open()
    await ask(one, "How do branches work?", /Looking writes nothing/)
    const two = await open(`#${sessionId(one)}`)
    await answered(two, "Looking writes nothing")
    await send(one, "What is in storage?")
    await two.getByText("Another tab has the agent at work").waitFor()
    await answered(two, "A browser may clear")
    await two.getByText("Another tab has the agent at work").waitFor({ state: "detached" })
    assert.deepEqual(await questions(two), ["How do branches work?", "What is in storage?"])
  })

  check(
    "a question that is edited becomes a branch; both can be looked at, and looking writes nothing",
    async (open) => {
      const page = await open()
      await ask(page, "How do branches work?", /Looking writes nothing/)
      await page.getByRole("button", { name: "Edit and send again" }).click()
      await page.getByRole("textbox", { name: "Edit the message" }).fill("What is in storage?")
      await page.keyboard.press("Enter")
      await answered(page, "A browser may clear")
      await ready(page)
      const before = await exported(page)
      await page.getByRole("button", { name: "Previous version" }).click()
      await answered(page, "Looking writes nothing")
      assert.deepEqual(await questions(page), ["How do branches work?"])
      await page.getByRole("treeitem", { name: "What is in storage?" }).click()
      await answered(page, "A browser may clear")
      assert.equal(await exported(page), before)
    },
  )

  check("an export that is imported again is the same but for its id", async (open) => {
    const page = await open()
    await ask(page, "How do branches work?", /Looking writes nothing/)
    const first = sessionId(page)
    const text = await exported(page)
    const dropped = await page.evaluateHandle((text) => {
      const data = new DataTransfer()
      data.items.add(new File([text], "session.jsonl"))
      return data
    }, text)
    await page.dispatchEvent("body", "drop", { dataTransfer: dropped })
    await page.waitForURL((url) => url.hash !== "" && url.hash !== `#${first}`)
    await answered(page, "Looking writes nothing")
    const second = sessionId(page)
    assert.equal((await exported(page)).replace(second, first), text)
    assert.equal(await page.locator(".sessions li").count(), 2)
  })

  check("a file that is no session is refused in a sentence, and nothing else happens", async (open) => {
    const page = await open()
    await page.setInputFiles("input[type=file]", {
      name: "notes.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("hello\n"),
    })
    await page.getByRole("alert").getByText("Could not import notes.txt. The file is not a session").waitFor()
    assert.equal(await page.locator(".sessions li").count(), 0)
  })

  check("rename, fork and delete", async (open) => {
    const page = await open()
    await ask(page, "How do branches work?", /Looking writes nothing/)
    const first = sessionId(page)
    await page.getByRole("button", { name: "Rename" }).click()
    await page.getByRole("textbox", { name: "Title" }).fill("About branches")
    await page.keyboard.press("Enter")
    await page.locator(".sessions .title", { hasText: /^About branches$/ }).waitFor()
    await page.getByRole("button", { name: "Fork: a new session with this branch" }).click()
    await page.getByRole("heading", { name: "About branches (fork)" }).waitFor()
    assert.notEqual(sessionId(page), first)
    assert.deepEqual(await questions(page), ["How do branches work?"])
    await page.getByRole("button", { name: "Delete" }).click()
    const dialog = page.getByRole("alertdialog", { name: "Delete “About branches (fork)”?" })
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    assert.equal(await page.locator(".sessions li").count(), 2)
    await page.getByRole("button", { name: "Delete" }).click()
    await dialog.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("heading", { name: "A new session" }).waitFor()
    await page.locator(".sessions li").nth(1).waitFor({ state: "detached" })
    assert.deepEqual(await page.locator(".sessions .title").allTextContents(), ["About branches"])
  })

  check("a session that is compacted marks what the model gets a summary of, and keeps all of it", async (open) => {
    const page = await open()
    await ask(page, "How do branches work?", /Looking writes nothing/)
    await ask(page, "What is in storage?", /A browser may clear/)
    await ask(page, "Can I export a file?", /Drop such a file/)
    await page.getByRole("button", { name: /^Compact/ }).click()
    await page.getByText("Summarized: the model gets this").waitFor()
    assert.deepEqual(await questions(page), ["How do branches work?", "What is in storage?", "Can I export a file?"])
    assert.ok((await page.locator(".line.summarized").count()) > 0)
    await page.getByRole("meter", { name: "Context window" }).waitFor()
    assert.match(await page.locator(".context .used").innerText(), /of them a summary/)
  })

  check("all of it by the keyboard alone", async (open) => {
    const page = await open()
    const press = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key)
    }
    const focusOn = async (name: string): Promise<void> => {
      for (let i = 0; i < 60; i++) {
        const focused = await page.evaluate(
          () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent,
        )
        if (focused?.startsWith(name) === true) return
        await press("Tab")
      }
      assert.fail(`Tab does not reach ${name}.`)
    }
    await focusOn("Message")
    await page.keyboard.type("How do")
    await press("Shift+Enter")
    await page.keyboard.type("branches work?")
    await press("Enter")
    await answered(page, "Looking writes nothing")
    await ready(page)
    assert.deepEqual(await questions(page), ["How do\nbranches work?"])
    await focusOn("Rename")
    await press("Enter")
    await page.keyboard.type("By hand")
    await press("Enter")
    await page.getByRole("heading", { name: "By hand" }).waitFor()
    await focusOn("Edit and send again")
    await press("Enter")
    await page.keyboard.type(" (no)")
    await press("Escape")
    assert.deepEqual(await questions(page), ["How do\nbranches work?"])
    await press("Enter", "Control+A")
    await page.keyboard.type("What is in storage?")
    await press("Enter")
    await answered(page, "A browser may clear")
    await ready(page)
    await focusOn("What is in storage?, a branch")
    await press("ArrowUp", "Enter")
    await answered(page, "Looking writes nothing")
    assert.deepEqual(await questions(page), ["How do\nbranches work?"])
  })
})
