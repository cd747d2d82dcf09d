/** The HTML file around the data: a Content-Security-Policy that runs this package's script alone, its style, and blocks of JSON. */
import { toJsonText } from "@sessions/core/format"
import { SCRIPT, SCRIPT_HASH, STYLE, STYLE_HASH } from "./page/assets.ts"

/**
 * Only the script and the style with these hashes apply, images come from the file itself, and nothing is loaded, sent or framed. Trusted
 * Types make the browser refuse HTML from text, so that no text of a log can become an element.
 */
const POLICY: string = [
  "default-src 'none'",
  `script-src '${SCRIPT_HASH}'`,
  `style-src '${STYLE_HASH}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ")

/** The page of a server asks that server, and no frame may show it. */
export const SERVED_POLICY: string = `${POLICY}; connect-src 'self'; frame-ancestors 'none'`

/** What the page of a server may do. */
export interface Rights {
  readonly write: boolean
  readonly compact: boolean
}

/** The page of a server. It has no data, and asks for it with the token. */
export function servedPage({ write, compact }: Rights): string {
  const mode = ["served", ...(write ? ["write"] : []), ...(compact ? ["compact"] : [])].join(" ")
  return `${startOfPage("Sessions", mode, `${POLICY}; connect-src 'self'`)}${endOfPage()}`
}

/** `mode`: `file` has its data in it, `served` asks the server; then what it may do. */
export function startOfPage(title: string, mode: string = "file", policy: string = POLICY): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<div id="inspector" data-mode="${mode}"><noscript>This page needs JavaScript. It loads nothing and sends nothing.</noscript></div>
`
}

export function endOfPage(): string {
  return `<script>${SCRIPT}</script>\n</body>\n</html>\n`
}

/** A block that the page reads. Its type is no script's, so a browser never runs it. `session` is a session id. */
export function dataBlock(session: string, kind: string, value: unknown, range: string = ""): string {
  return `<script type="application/json" data-session="${session}" data-kind="${kind}"${range}>${escapeJson(toJsonText(value))}</script>\n`
}

/** The same JSON without `<`, so that nothing in it ends the block or begins a comment. */
function escapeJson(json: string): string {
  return json.replaceAll("<", "\\u003c")
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
}
