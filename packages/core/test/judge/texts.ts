/**
 * Texts of the kinds that tokenizers treat differently. A text is lines of one kind, and a tokenizer counts line by line, so that each line
 * is counted once for all histories.
 */
import type { Dice } from "../dice.ts"

export const KINDS = ["english", "chinese", "japanese", "code", "base64", "minified"] as const
export type Kind = (typeof KINDS)[number]

const SAMPLES: Readonly<Record<Exclude<Kind, "base64">, readonly string[]>> = {
  english: `The build failed on the second machine, because its clock was four minutes behind.
I read the log of yesterday's run, and the first warning comes from the parser.
Please keep the old names until the next release; two customers still call them.
It works here, so the difference must be in the environment and not in the code.
We measured it twice: the query takes 40 milliseconds with the index and 900 without.
Nobody has touched this file since March, and yet the test began to fail on Monday.
The third step copies the table, which is safe to repeat if it is interrupted.
Could you explain why the retry waits longer after each attempt than before?
There is one case left: a user who deletes the account while the export is running.
Thanks, that was the reason. I have added a test that fails without the change.`.split("\n"),
  chinese: `构建在第二台机器上失败了，因为它的时钟慢了四分钟。
我看了昨天运行的日志，第一个警告来自解析器。
请在下一个版本之前保留旧的名称，还有两个客户在使用。
在这里可以运行，所以差别一定在环境里，而不在代码里。
我们测量了两次：有索引时查询需要四十毫秒，没有索引时需要九百毫秒。
从三月起就没有人改过这个文件，但是测试从星期一开始失败。
第三步会复制整个表，如果中断了，可以安全地重复执行。
还剩一种情况：用户在导出过程中删除了自己的账户。`.split("\n"),
  japanese: `二台目のマシンでビルドに失敗しました。時計が四分遅れていたからです。
昨日の実行ログを読みましたが、最初の警告はパーサーから出ています。
次のリリースまで古い名前を残してください。まだ二社のお客様が使っています。
こちらでは動くので、違いはコードではなく環境にあるはずです。
二回測定しました。インデックスがあれば四十ミリ秒、なければ九百ミリ秒かかります。
三月から誰もこのファイルを変更していないのに、月曜日からテストが失敗しています。
三番目の手順はテーブルをコピーします。中断されても安全に繰り返せます。
もう一つの場合が残っています。エクスポート中にアカウントを削除する利用者です。`.split("\n"),
  code: `export async function readAll(store: Store, ids: readonly string[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const id of ids) {
    const row = await store.get(id)
    if (row === undefined) throw new NotFoundError(\`There is no row \${id}.\`)
    if (row.deletedAt === null && row.version >= MIN_VERSION) rows.push(row)
  }
  return rows.sort((a, b) => a.createdAt - b.createdAt || a.id.localeCompare(b.id))
        self.assertEqual(parse("a=1&b=2"), {"a": ["1"], "b": ["2"]})
    def __init__(self, path: str, *, timeout: float = 30.0) -> None:
SELECT o.id, SUM(l.price * l.amount) AS total FROM orders o JOIN lines l ON l.order_id = o.id
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil { return nil, err }`.split("\n"),
  minified:
    `function e(t,n){var r=n||{},i=r.a|0;return t.map(function(o){return o.b<<i|o.c>>>2})}var a=e([{b:1,c:9}],{a:3});
!function(){"use strict";var t={};function n(r){if(t[r])return t[r].exports;var o=t[r]={i:r,l:!1,exports:{}};return o}n.m=t}();
{"id":8271,"s":"ok","t":1731890412,"v":[0.12,4.71,9.03,1.55],"m":{"k":"x_9","z":null,"q":[[1,2],[3,4]]},"e":0}
.a1{color:#f3a;margin:0 4px}.b2>.c3:hover{opacity:.5;transform:translate3d(0,-2px,0)}@media(max-width:40em){.d4{display:none}}
8f14e45fceea167a5a36dedd4bea2543;c9f0f895fb98ab9159f51fd0297e236d;45c48cce2e2d7fbdea1afc51c7c6ad26;d3d9446802a44259
const{a:b,c:{d:f=1}={}}=g,h=(j,k)=>j?k?.l?.(m=>m**2):n??o[p]|0,q=[...r].flatMap(s=>s.t?[s.u,~s.v]:[]);w&&x(y[z])`.split(
      "\n",
    ),
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
/** As in mail: 76 characters a line. */
const base64Line = (line: number): string => {
  let state = line + 1
  let text = ""
  while (text.length < 76) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += BASE64.charAt(state >>> 26)
  }
  return text
}

const BASE64_LINES = Array.from({ length: 12 }, (_, line) => base64Line(line))

export function linesOf(kind: Kind): readonly string[] {
  return kind === "base64" ? BASE64_LINES : SAMPLES[kind]
}

/**
 * A text of about this number of tokens, if a tokenizer were as the rule of thumb: four characters, or one of Chinese and
 * Japanese; at least a line.
 */
export function textOf(dice: Dice, kind: Kind, tokens: number): string {
  const chars = Math.ceil(tokens * (kind === "chinese" || kind === "japanese" ? 1 : 4))
  const lines = linesOf(kind)
  const text: string[] = []
  for (let length = 0; length < chars; ) {
    const line = dice.pick(lines)
    text.push(line)
    length += line.length + 1
  }
  return text.join("\n")
}

const KIND_OF: ReadonlyMap<string, Kind> = new Map(
  KINDS.flatMap((kind) => linesOf(kind).map((line) => [line, kind] as const)),
)

/** The kind of a line, also of a part of one and of what programs add. */
export function kindOf(line: string): Kind {
  const known = KIND_OF.get(line)
  if (known !== undefined) return known
  if (/[\u3040-\u30ff]/.test(line)) return "japanese"
  if (/[\u4e00-\u9fff]/.test(line)) return "chinese"
  if (/^[A-Za-z0-9+/=]{24,}$/.test(line)) return "base64"
  return "english"
}
