// A person's client made with matrix-js-sdk, which Element is built on. It says what it is
// told on its standard input, and prints what it sees.
import { createRequire } from "node:module";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(path.join(process.env.PEERS, "package.json"));
const sdk = await import(pathToFileURL(require.resolve("matrix-js-sdk")).href);
for (const level of ["trace", "debug", "log", "info", "warn"]) console[level] = () => {};
const print = (...words) => process.stdout.write(words.join(" ") + "\n");

const client = sdk.createClient({ baseUrl: process.env.MATRIX_URL, accessToken: process.env.TOKEN, userId: process.env.USER_ID, deviceId: "ANA" });
const shown = (event) => JSON.stringify({
  id: event.getId(),
  sender: event.getSender(),
  thread: event.threadRootId ?? "",
  reply: event.replyEventId ?? "",
  type: event.getContent().msgtype,
  body: event.getContent().body,
  html: event.getContent().formatted_body ?? "",
  edited: event.replacingEventId() ?? "",
  url: event.getContent().url ?? "",
});
client.on("Room.timeline", (event, room, toStart, removed, data) => {
  if (!toStart && data.liveEvent && event.getType() === "m.room.message" && !event.isRelation("m.replace")) print("message", shown(event));
  if (!toStart && event.getType() === "m.room.redaction") print("removed", event.getAssociatedId());
});
client.on("RoomMember.typing", (_, member) => print("typing", member.userId, member.typing));
client.on("Event.replaced", (event) => print("edited", shown(event)));
client.once("sync", (state) => print("sync", state));
await client.startClient({ initialSyncLimit: 10, pollTimeout: 10000, threadSupport: true });

for await (const line of readline.createInterface({ input: process.stdin })) {
  const [does, room, ...rest] = JSON.parse(line);
  const done = {
    create: async () => (await client.createRoom({ is_direct: true, invite: [room] })).room_id,
    say: async () => (await client.sendTextMessage(room, rest[0])).event_id,
    html: async () => (await client.sendHtmlMessage(room, rest[0], rest[1])).event_id,
    send: async () => (await client.sendEvent(room, "m.room.message", rest[0])).event_id,
    remove: async () => (await client.redactEvent(room, rest[0])).event_id,
    upload: async () => (await client.uploadContent(Buffer.from(rest[1]), { name: rest[0], type: "text/plain" })).content_uri,
    download: async () => {
      const url = client.mxcUrlToHttp(room, undefined, undefined, undefined, false, true, true);
      const answer = await fetch(url, { headers: { Authorization: "Bearer " + process.env.TOKEN } });
      return await answer.text();
    },
  }[does];
  try {
    print("done", await done());
  } catch (error) {
    print("failed", error.errcode ?? error.message);
  }
}
client.stopClient();
