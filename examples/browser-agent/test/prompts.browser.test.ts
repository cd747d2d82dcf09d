import assert from "node:assert/strict"
import { describe } from "node:test"
import type { Page } from "playwright"
import { ask, check } from "./harness.ts"

const FIRST = "How do branches work?"
const SECOND = "What is in storage?"

void describe("arrow-up in the field for messages", { concurrency: 2 }, () => {
  check("brings back what was typed in any session, arrow-down returns, and a reload keeps it", async (open) => {
    const page = await open()
    await ask(page, FIRST, /Looking writes nothing/)
    await page.getByRole("button", { name: "New session", exact: true }).click()
    await ask(page, SECOND, /A browser may clear/)
    for (const reload of [false, true]) {
      if (reload) await page.reload()
      const field = page.getByRole("textbox", { name: "Message" })
      await field.focus()
      await press(page, "ArrowUp", SECOND)
      await press(page, "ArrowUp", FIRST)
      await press(page, "ArrowDown", SECOND)
      await press(page, "ArrowDown", "")
    }
  })

  check("leaves a text that the user types alone, and sends a text that it brought back", async (open) => {
    const page = await open()
    await ask(page, FIRST, /Looking writes nothing/)
    const field = page.getByRole("textbox", { name: "Message" })
    await field.fill("My own words")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowDown")
    assert.equal(await field.inputValue(), "My own words")
    await field.fill("")
    await press(page, "ArrowUp", FIRST)
    await page.keyboard.press("Enter")
    await page.locator(".line.user", { hasText: FIRST }).nth(1).waitFor()
    assert.equal(await field.inputValue(), "")
  })
})

/** Presses a key and waits until the field has the text. */
async function press(page: Page, key: string, text: string): Promise<void> {
  await page.keyboard.press(key)
  await page.waitForFunction(
    (wanted) =>
      document.activeElement?.matches(".composer textarea") === true &&
      "value" in document.activeElement &&
      document.activeElement.value === wanted,
    text,
  )
}
