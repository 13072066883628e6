// A bot that uses Discord's usual Node library.
const { AttachmentBuilder, ButtonBuilder, ButtonStyle, ActionRowBuilder, Client, Events, GatewayIntentBits, MessageFlags, Partials } = require('discord.js');

const client = new Client({
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.DirectMessages, GatewayIntentBits.MessageContent],
  partials: [Partials.Channel],
  rest: { api: process.env.DISCORD_API },
});

client.once(Events.ClientReady, async () => {
  await client.application.commands.set([{ name: 'status', description: 'show what is running' }]);
  console.log('ready');
});

client.on(Events.MessageCreate, async (message) => {
  if (message.author.bot) return;
  if (!message.guild) return void message.channel.send('psst');
  if (message.channel.isThread()) return void message.reply(`in ${message.channel.name} of #${message.channel.parent.name}`);
  if (!message.mentions.users.has(client.user.id)) return;
  if (message.attachments.size > 0) {
    const content = await (await fetch(message.attachments.first().url)).text();
    return void message.channel.send({ content: 'the file', files: [new AttachmentBuilder(Buffer.from(content.toUpperCase()), { name: 'upper.txt' })] });
  }
  await message.channel.sendTyping();
  await message.react('👀');
  const approve = new ButtonBuilder().setCustomId('approve:a1').setLabel('Approve').setStyle(ButtonStyle.Success);
  const question = {
    content: 'May I? @everyone', components: [new ActionRowBuilder().addComponents(approve)], allowedMentions: { parse: [] },
    nonce: 'a-nonce', enforceNonce: true, reply: { messageReference: message.id, failIfNotExists: false },
  };
  const first = await message.channel.send(question);
  const second = await message.channel.send(question);
  const found = await message.channel.messages.fetch({ after: message.id, limit: 100 });
  if (first.id === second.id && found.has(first.id)) await first.edit('May I, please?');
});

client.on(Events.InteractionCreate, async (interaction) => {
  if (interaction.isButton()) {
    await interaction.deferUpdate();
    await interaction.message.edit({ content: `${interaction.customId} by ${interaction.user.username}`, components: [] });
    return;
  }
  if (interaction.channel.isDMBased()) return void interaction.reply({ content: 'idle', flags: MessageFlags.Ephemeral });
  await interaction.deferReply({ flags: MessageFlags.Ephemeral });
  await interaction.editReply('on it');
});

client.login(process.env.DISCORD_TOKEN);
