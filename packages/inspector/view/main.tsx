/** Starts the page of an exported file. */
import { render } from "preact"
import { App } from "./app.tsx"
import { embeddedSource } from "./embedded.ts"

const root = document.getElementById("inspector")
if (root !== null) {
  root.replaceChildren()
  render(<App source={embeddedSource(document)} />, root)
}
