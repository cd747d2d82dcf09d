import assert from "node:assert/strict"
import { describe } from "node:test"
import { ask, asked, check, deleteShown, sessionId } from "./harness.ts"

void describe("the search box", { concurrency: 4 }, () => {
  check("finds a message in any session, marks the words, and shows it on its branch", async (open) => {
    const page = await open()
    await ask(page, "How do branches work?", /Looking writes nothing/)
    const first = sessionId(page)
    await page.getByRole("button", { name: "New session", exact: true }).click()
    await ask(page, "What is in storage?", /A browser may clear/)
    const box = page.getByRole("searchbox", { name: "Search all sessions" })
    const found = page.getByRole("list", { name: "Found messages" })
    await box.fill("BRANCH how")
    await found.getByRole("button").first().waitFor()
    const hit = found.locator(".snippet", { hasText: /^How do branches work\?$/ })
    assert.deepEqual(await hit.locator("mark").allTextContents(), ["How", "branches"])
    assert.equal(await page.getByRole("list", { name: "Sessions", exact: true }).count(), 0)
    await hit.click()
    await page.waitForURL((url) => url.hash === `#${first}`)
    await asked(page, ["How do branches work?"])
    await page.waitForFunction(() => document.activeElement?.textContent?.includes("How do branches work?") === true)
    await box.fill("")
    await page.getByRole("list", { name: "Sessions", exact: true }).waitFor()
  })

  check("finds what another tab has just said, and nothing of a deleted session", async (open) => {
    const [page, other] = [await open(), await open()]
    await ask(other, "How do branches work?", /Looking writes nothing/)
    const box = page.getByRole("searchbox", { name: "Search all sessions" })
    await box.fill("branches work")
    await page
      .getByRole("status")
      .getByText(/^\d+ found\.$/)
      .waitFor()
    await deleteShown(other)
    await box.fill("branches work?")
    await page.getByText("Nothing found.").waitFor()
  })
})
