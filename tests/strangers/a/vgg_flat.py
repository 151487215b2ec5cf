import torch
import torchvision

net = torchvision.models.vgg16_bn(num_classes=257)
net.cuda()
net.train()

crit = torch.nn.CrossEntropyLoss().cuda()
params = [
    {"params": net.features.parameters(), "lr": 1e-3},
    {"params": net.classifier.parameters(), "lr": 1e-2},
]
opt = torch.optim.SGD(params, momentum=0.9, weight_decay=5e-4)

running_loss = 0.0
for i in range(4):
    inputs = torch.rand(112, 3, 224, 224)
    labels = torch.randint(0, 257, (112,))
    inputs, labels = inputs.cuda(), labels.cuda()

    # zero the parameter gradients
    opt.zero_grad(set_to_none=False)

    # forward + backward + optimize
    outputs = net(inputs)
    loss = crit(outputs, labels)
    loss.backward()
    opt.step()

    running_loss += loss.item()
    _, predicted = torch.max(outputs.data, 1)
    correct = (predicted == labels).sum().item()
    print("[%d] loss: %.3f acc: %.3f" % (i + 1, running_loss / (i + 1), correct / 112))

print("Finished Training", torch.cuda.max_memory_reserved() // 1048576, "MiB peak")
