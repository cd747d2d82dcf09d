import assert from "node:assert/strict"
import { describe } from "node:test"
import { answered, ask, asked, check, exported, keptInField, ready, send, sendAndStopAt, sessionId } from "./harness.ts"

// Concurrent, because the tests mostly wait for the agent; each has a browser context of its own.
void describe("turns", { concurrency: 4 }, () => {
  check(
    "a reload during a turn keeps everything acknowledged, shows the turn as interrupted, and can continue it",
    async (open) => {
      const page = await open()
      // The first tool has returned, and the next answer is being streamed.
      await sendAndStopAt(page, "How do branches work?", { selector: ".live", text: "One note" })
      await page.reload()
      await page.clock.resume()
      await page.getByText("This turn was cut off").waitFor()
      await asked(page, ["How do branches work?"])
      assert.equal(await page.locator(".call", { hasText: "search_notes" }).count(), 1)
      await page.getByRole("button", { name: "Continue" }).click()
      await answered(page, "Looking writes nothing")
      await ready(page)
      await asked(page, ["How do branches work?"])
      assert.equal(await page.locator(".call", { hasText: "search_notes" }).count(), 1)
      assert.equal(await page.getByText("This turn was cut off").count(), 0)
    },
  )

  check("a reload during a tool call: the turn continues with the call, which gets one result", async (open) => {
    const page = await open()
    await sendAndStopAt(page, "How do branches work?", { selector: ".call .state", text: "running" })
    await page.reload()
    await page.clock.resume()
    await page.getByText("This turn was cut off while it waited for a tool.").waitFor()
    await page.locator(".call .state", { hasText: "no result" }).waitFor()
    await page.getByRole("button", { name: "Continue" }).click()
    await answered(page, "Looking writes nothing")
    await ready(page)
    const log = (await exported(page)).trimEnd().split("\n")
    assert.equal(log.filter((line) => line.includes('"role":"toolResult"')).length, 2)
    assert.equal(log.filter((line) => line.includes('"role":"user"')).length, 1)
  })

  check("a message that is sent while the page is still starting is answered", async (open, context) => {
    await context.addInitScript(startUntilFirstTurn)
    const page = await open()
    const question = "How do branches work?"
    await send(page, question)
    const returned = keptInField(page, question).then(() => assert.fail("The message was not sent."))
    await Promise.race([answered(page, "Looking writes nothing"), returned])
    await ready(page)
  })

  check("a stopped answer is kept, and a new answer becomes its sibling", async (open) => {
    const page = await open()
    await sendAndStopAt(page, "Tell me a joke", { selector: ".live", text: "I am a stand-in" })
    await page.keyboard.press("Escape")
    await page.clock.resume()
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
    // No answer is lost: each of the three questions has two calls with their results.
    assert.equal(log.filter(({ message }) => message?.["role"] === "toolResult").length, 6)
  })

  check("a branch that another tab made is named; a person can go there, or stay and settle it", async (open) => {
    const one = await open()
    await ask(one, "How do branches work?", /Looking writes nothing/)
    const two = await open(`#${sessionId(one)}`)
    await answered(two, "Looking writes nothing")
    // The second tab is in the middle of its turn when the first one continues from its question.
    await sendAndStopAt(two, "What is in storage?", { selector: ".live", text: "One note" })
    await asked(one, ["How do branches work?", "What is in storage?"])
    await send(one, "Can I export a file?")
    await asked(one, ["How do branches work?", "What is in storage?", "Can I export a file?"])
    // The clock is that of both tabs.
    await two.clock.resume()
    await answered(one, "Drop such a file")
    await answered(two, "A browser may clear")
    await Promise.all([ready(one), ready(two)])
    for (const page of [one, two]) await page.getByText("Both branches are kept.").waitFor()
    await two
      .getByText("Another tab or device continued this session at the same time: “Can I export a file?”")
      .waitFor()
    await two.getByRole("button", { name: "Go there" }).click()
    await asked(two, ["How do branches work?", "What is in storage?", "Can I export a file?"])
    await answered(two, "Drop such a file")
    // The choice is in the log, and the other tab no longer asks.
    for (const page of [one, two]) await page.getByText("Both branches are kept.").waitFor({ state: "detached" })
  })

  check("a turn of one tab appears in another tab that writes nothing", async (open) => {
    const one = await open()
    await ask(one, "How do branches work?", /Looking writes nothing/)
    const two = await open(`#${sessionId(one)}`)
    await answered(two, "Looking writes nothing")
    // The turn stops until the second tab has seen it.
    await sendAndStopAt(one, "What is in storage?", { selector: ".live", text: "One note" })
    await two.getByText("The agent is working on this session in another tab").waitFor()
    await one.clock.resume()
    await answered(two, "A browser may clear")
    await two.getByText("The agent is working on this session in another tab").waitFor({ state: "detached" })
    await asked(two, ["How do branches work?", "What is in storage?"])
  })

  check("an edited question becomes a branch; both can be shown, and showing them writes nothing", async (open) => {
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
    await asked(page, ["How do branches work?"])
    await page.getByRole("treeitem", { name: "What is in storage?" }).click()
    await answered(page, "A browser may clear")
    assert.equal(await exported(page), before)
  })
})

/** The page's start ends when its first turn has asked for its lock: a busy browser may answer the page as late as that. */
function startUntilFirstTurn(): void {
  // The empty page before has neither.
  if (!isSecureContext) return
  const { locks, storage } = navigator
  const begun = new Promise<boolean>((resolve) => {
    const request = locks.request.bind(locks) as (...args: unknown[]) => Promise<unknown>
    locks.request = (...args: unknown[]) => {
      resolve(false)
      return request(...args)
    }
  })
  storage.persisted = () => begun
}
