// A bot that uses Mattermost's own JavaScript client. It answers what it is told, and prints
// what it missed.
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.join(process.env.PEERS, "package.json"));
const { Client4, WebSocketClient } = require("@mattermost/client");
globalThis.CloseEvent ??= class extends Event {};

const { MATTERMOST_URL: url, MATTERMOST_TOKEN: token } = process.env;
const client = new Client4();
client.setUrl(url);
client.setToken(token);
const me = await client.getMe();

const socket = new WebSocketClient({
  minWebSocketRetryTime: 20,
  reconnectJitterRange: 1,
  newWebSocketFn: (address) => new WebSocket(address, { headers: { Authorization: `Bearer ${token}` } }),
});
socket.addMissedMessageListener(() => console.log("missed"));
socket.addMessageListener(async (message) => {
  if (message.event !== "posted") return;
  const post = JSON.parse(message.data.post);
  if (post.user_id === me.id) return;
  const reply = { channel_id: post.channel_id, root_id: post.root_id, message: `echo: ${post.message}`, pending_post_id: `${me.id}:${post.id}`, props: { key: "x" } };
  try {
    const first = await client.createPost(reply);
    const second = await client.createPost(reply);
    if (first.id !== second.id) throw new Error("the key was not recognized");
    console.log("answered", post.message);
    if (post.message === "tour") await tour(post, first);
  } catch (error) {
    console.log("failed", error);
  }
});

// tour calls what the channel uses.
async function tour(post, reply) {
  const expect = (what, ok) => console.log(ok ? "ok" : "failed", what);
  expect("edit", (await client.patchPost({ id: reply.id, message: "edited" })).message === "edited");
  const form = new FormData();
  form.append("channel_id", post.channel_id);
  form.append("files", new Blob(["hello"]), "a.txt");
  const stored = (await client.uploadFile(form)).file_infos[0];
  expect("upload", stored.name === "a.txt" && stored.size === 5);
  const filed = await client.createPost({ channel_id: post.channel_id, message: "", root_id: post.id, file_ids: [stored.id] });
  expect("files of a post", filed.metadata.files[0].id === stored.id);
  expect("thread", (await client.getPaginatedPostThread(post.id, { perPage: 1 })).order.includes(filed.id));
  const since = await client.getPostsSince(post.channel_id, post.create_at - 1);
  expect("since", since.order.includes(reply.id) && since.order.some((id) => since.posts[id].original_id === reply.id));
  expect("page", (await client.getPosts(post.channel_id, 0, 1)).order[0] === filed.id);
  expect("before", (await client.getPostsBefore(post.channel_id, filed.id, 0, 1)).order[0] === reply.id);
  expect("people", (await client.getProfilesByIds([post.user_id]))[0].username === "ana");
  expect("direct", (await client.createDirectChannel([me.id, post.user_id])).id === post.channel_id);
  expect("config", (await client.getClientConfig()).MaxPostSize === "16383");
  await client.deletePost(filed.id);
  const gone = await client.getPost(filed.id).catch((error) => error.status_code);
  expect("deletion", gone === 404);
  console.log("done");
}

socket.initialize(url.replace(/^http/, "ws") + "/api/v4/websocket", token);
