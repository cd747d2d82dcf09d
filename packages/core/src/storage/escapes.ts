/** The text of JSON with its letters, digits and colons in place of their escapes: programs may write a hash with escapes. */
export function withoutEscapes(json: string): string {
  if (!json.includes("\\u00")) return json
  return json.replace(/\\u00([3-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
