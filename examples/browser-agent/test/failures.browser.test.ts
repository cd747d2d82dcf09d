import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { Page } from "playwright"
import { type Engine, openBrowser } from "../../../.config/browsers/page.ts"
import { openEndpoint } from "./endpoint.ts"
import {
  answered,
  ask,
  asked,
  check,
  keptInField,
  openOwnSite,
  questions,
  ready,
  send,
  sessionId,
  titles,
} from "./harness.ts"

const alert = (page: Page, text: string | RegExp): Promise<void> => page.getByRole("alert").getByText(text).waitFor()

async function useEndpoint(page: Page, url: string, key: string, window = 128_000): Promise<void> {
  await page.getByRole("button", { name: /^Model: / }).click()
  await page.getByLabel("Address").fill(url)
  await page.getByRole("textbox", { name: "Model", exact: true }).fill("some-model")
  await page.getByLabel("Key").fill(key)
  const tokens = page.getByLabel("Context window, in tokens")
  // In Firefox, Playwright's `fill` does not replace a number, but adds to it.
  await tokens.clear()
  await tokens.fill(String(window))
  await page.getByRole("button", { name: "Use it" }).click()
}

void describe("failures", { concurrency: 4 }, () => {
  void test("a page whose user blocks site data is shown, and says what to allow", async () => {
    const site = await openOwnSite()
    const page = await openBrowser((process.env["ENGINE"] ?? "chromium") as Engine, { siteData: "blocked" })
    try {
      await page.open(site.url)
      const shown = await page.evaluate(`for (;;) {
        const text = document.querySelector("[role=alert]")?.innerText ?? ""
        if (text.includes("Allow site data for this page")) return document.querySelector("textarea") !== null
        await new Promise((resolve) => setTimeout(resolve, 20))
      }`)
      assert.equal(shown, true)
    } finally {
      await page.close()
      await site.close()
    }
  })

  check("a server is called only when a message is sent, and streams answers and tool calls", async (open) => {
    const args = ['{"na', 'me":"tabs"}'].map((piece) => ({
      tool_calls: [{ index: 0, function: { arguments: piece } }],
    }))
    const call = {
      tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "read_note", arguments: "" } }],
    }
    const endpoint = await openEndpoint((results) =>
      results === 0
        ? { deltas: [{ content: "I look." }, call, ...args], finish: "tool_calls" }
        : { deltas: [{ content: "Two tabs " }, { content: "are fine." }], finish: "stop" },
    )
    const page = await open()
    await useEndpoint(page, endpoint.url, "secret-1")
    assert.equal(endpoint.requests.length, 0)
    await ask(page, "May I use two tabs?", /^Two tabs are fine\.$/)
    assert.equal(endpoint.requests.length, 2)
    assert.ok(endpoint.requests.every(({ key }) => key === "Bearer secret-1"))
    assert.deepEqual(
      endpoint.requests[1]?.body.messages.map(({ role }) => role),
      ["user", "assistant", "tool"],
    )
    await page
      .locator(".call", { hasText: "read_note" })
      .locator("pre", { hasText: "Neither turn is thrown away" })
      .waitFor({ state: "attached" })
    assert.equal(await page.evaluate(() => localStorage.length), 0)
    await endpoint.close()
  })

  check(
    "an error of the server is shown, and the question can be asked again",
    async (open) => {
      const endpoint = await openEndpoint(() =>
        endpoint.requests.length === 1
          ? { status: 503, text: "busy" }
          : { deltas: [{ content: "Here." }], finish: "stop" },
      )
      const page = await open()
      await useEndpoint(page, endpoint.url, "")
      await send(page, "Are you there?")
      await alert(page, /Could not finish the turn\. .* answered 503: busy/)
      await page.getByText("This turn was cut off before it was answered.").waitFor()
      await page.getByRole("button", { name: "Continue" }).click()
      await answered(page, "Here.")
      assert.equal(endpoint.requests[1]?.key, undefined)
      await asked(page, ["Are you there?"])
      await endpoint.close()
      // The browser logs each such response to the console.
    },
    { expected: /status of 503/ },
  )

  check(
    "a failed automatic compaction is reported, and the turn is kept",
    async (open) => {
      const endpoint = await openEndpoint((_, summary) =>
        summary ? { status: 503, text: "busy" } : { deltas: [{ content: "Here." }], finish: "stop" },
      )
      const page = await open()
      await useEndpoint(page, endpoint.url, "", 1_000)
      await ask(page, "words ".repeat(300), /Here\./)
      await send(page, "words ".repeat(400))
      await page.getByText(/The session could not be summarized\. .*503: busy/).waitFor()
      assert.equal((await questions(page)).length, 2)
      await endpoint.close()
    },
    { expected: /status of 503/ },
  )

  check("an exceeded quota is explained, the typed text is kept, and can be sent when there is space", async (open) => {
    const page = await open()
    await ask(page, "How do branches work?", /Looking writes nothing/)
    await page.evaluate(fillUp)
    await send(page, "What is in storage?")
    await alert(page, "This site has used up its share of the disk.")
    await keptInField(page, "What is in storage?")
    await asked(page, ["How do branches work?"])
    await page.evaluate(() => dispatchEvent(new Event("space")))
    await page.keyboard.press("Enter")
    await answered(page, "A browser may clear")
    await ready(page)
  })

  check("if the browser stores nothing the page says so, and the typed text is kept", async (open, context) => {
    await context.addInitScript(() => {
      IDBFactory.prototype.open = () => {
        throw new DOMException("The user denied permission.", "SecurityError")
      }
    })
    const page = await open()
    await alert(page, "Could not list the sessions. The browser stores nothing for this page")
    await send(page, "Hello?")
    await alert(page, "Could not make a session.")
    await keptInField(page, "Hello?")
  })

  check("a session of a newer version can be read, but not continued", async (open) => {
    const page = await open()
    await ask(page, "How do branches work?", /Looking writes nothing/)
    await page.evaluate(madeNewer)
    await page.reload()
    await answered(page, "Looking writes nothing")
    await page.getByText("It can be read and exported here, but not continued.").waitFor()
    assert.ok(await page.getByRole("textbox", { name: "Message" }).isDisabled())
    assert.ok(await page.getByRole("button", { name: "Edit and send again" }).isDisabled())
  })

  check("a session that another tab deletes is closed, with the reason", async (open) => {
    const one = await open()
    await ask(one, "How do branches work?", /Looking writes nothing/)
    const two = await open(`#${sessionId(one)}`)
    await answered(two, "Looking writes nothing")
    await one.getByRole("button", { name: "Delete" }).click()
    await one.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click()
    await alert(two, "The session was deleted in another tab or on another device.")
    await two.locator(".sessions li").waitFor({ state: "detached" })
    assert.deepEqual(await titles(two), [])
  })
})

/** Makes each write to a log fail as on a full disk, until the event `space`. The browser's own quota cannot be set so low. */
function fillUp(): void {
  const prototype: { add: (this: IDBObjectStore, value: unknown, key?: IDBValidKey) => IDBRequest<IDBValidKey> } =
    IDBObjectStore.prototype
  const original = prototype.add
  prototype.add = function (value, key) {
    const request = original.call(this, value, key)
    if (this.name !== "log") return request
    Object.defineProperty(this.transaction, "error", { value: new DOMException("full", "QuotaExceededError") })
    this.transaction.abort()
    return request
  }
  addEventListener("space", () => (prototype.add = original))
}

/** Changes each stored header to an unknown version. */
async function madeNewer(): Promise<void> {
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open("browser-agent")
    opening.addEventListener("success", () => resolve(opening.result))
    opening.addEventListener("error", () => reject(opening.error as DOMException))
  })
  const tx = db.transaction("log", "readwrite")
  const rows = tx.objectStore("log").openCursor()
  rows.addEventListener("success", () => {
    const cursor = rows.result
    if (cursor === null) return
    const row = cursor.value as Record<string, unknown>
    const changed = Object.entries(row).map(([key, value]) => [
      key,
      typeof value === "string" ? value.replace('"version":4', '"version":9') : value,
    ])
    cursor.update(Object.fromEntries(changed) as typeof row)
    cursor.continue()
  })
  await new Promise((resolve) => tx.addEventListener("complete", resolve))
  db.close()
}
