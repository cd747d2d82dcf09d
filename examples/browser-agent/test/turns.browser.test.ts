import assert from "node:assert/strict"
import { describe } from "node:test"
import { answered, ask, asked, atOnce, check, exported, ready, send, sessionId } from "./harness.ts"

// They wait for the agent most of the time, each in a browser of its own.
void describe("turns", { concurrency: 4 }, () => {
  check(
    "a reload in the middle of a turn keeps what was acknowledged, says that the turn is unfinished, and goes on",
    async (open) => {
      const page = await open()
      // The first tool has answered, and the next answer is being written.
      await atOnce(page, { selector: ".live", text: "One note" }, "reload")
      await send(page, "How do branches work?")
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

  check("a reload while a tool runs: the turn goes on with the call, and has one result of it", async (open) => {
    const page = await open()
    await atOnce(page, { selector: ".call .state", text: "running" }, "reload")
    await send(page, "How do branches work?")
    await page.getByText("This turn was cut off while it waited for a tool.").waitFor()
    await page.locator(".call .state", { hasText: "no result" }).waitFor()
    await page.getByRole("button", { name: "Continue" }).click()
    await answered(page, "Looking writes nothing")
    await ready(page)
    const log = (await exported(page)).trimEnd().split("\n")
    assert.equal(log.filter((line) => line.includes('"role":"toolResult"')).length, 2)
    assert.equal(log.filter((line) => line.includes('"role":"user"')).length, 1)
  })

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
    await asked(two, ["How do branches work?", "What is in storage?"])
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
      await asked(page, ["How do branches work?"])
      await page.getByRole("treeitem", { name: "What is in storage?" }).click()
      await answered(page, "A browser may clear")
      assert.equal(await exported(page), before)
    },
  )
})
